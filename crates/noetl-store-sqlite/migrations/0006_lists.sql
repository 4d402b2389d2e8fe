-- Lists of executions that stay fast however many there are: their pool, indexes for what people filter by, counters, and
-- what they are searched by.
ALTER TABLE noetl.execution_record ADD COLUMN pool TEXT NOT NULL DEFAULT 'shared';

UPDATE noetl.execution_record SET pool = CASE
    WHEN coalesce(meta ->> '$.execution_pool', '') <> '' THEN meta ->> '$.execution_pool'
    WHEN path LIKE 'system/%' THEN 'system'
    WHEN path LIKE 'subscription/%' THEN 'subscription'
    ELSE 'shared'
END;

CREATE INDEX noetl.execution_by_path_and_status ON execution_record (path, status);
CREATE INDEX noetl.execution_by_catalog_and_status ON execution_record (catalog_id, status);
CREATE INDEX noetl.execution_by_pool ON execution_record (pool);
CREATE INDEX noetl.execution_by_start ON execution_record (started_at);

-- How many executions there are, counted as they change.
CREATE TABLE noetl.execution_count (
    status     TEXT NOT NULL PRIMARY KEY,
    executions INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO noetl.execution_count (status, executions)
SELECT status, count(*) FROM noetl.execution_record GROUP BY status;

CREATE TRIGGER noetl.execution_begins AFTER INSERT ON execution_record
BEGIN
    INSERT INTO execution_count (status, executions) VALUES (NEW.status, 1)
    ON CONFLICT (status) DO UPDATE SET executions = executions + 1;
END;

CREATE TRIGGER noetl.execution_changes AFTER UPDATE OF status ON execution_record
WHEN OLD.status <> NEW.status
BEGIN
    UPDATE execution_count SET executions = executions - 1 WHERE status = OLD.status;
    INSERT INTO execution_count (status, executions) VALUES (NEW.status, 1)
    ON CONFLICT (status) DO UPDATE SET executions = executions + 1;
END;

CREATE TRIGGER noetl.execution_goes AFTER DELETE ON execution_record
BEGIN
    UPDATE execution_count SET executions = executions - 1 WHERE status = OLD.status;
END;

-- Paths, labels (`key=value`) and errors of executions, each text once.
CREATE TABLE noetl.search_text (
    text_id INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL CONSTRAINT search_text_kind_known CHECK (kind IN ('path', 'label', 'error')),
    text    TEXT NOT NULL,
    CONSTRAINT search_text_once UNIQUE (kind, text)
);

-- Which executions have a label or an error.
CREATE TABLE noetl.execution_text (
    text_id      INTEGER NOT NULL,
    execution_id INTEGER NOT NULL,
    PRIMARY KEY (text_id, execution_id)
) WITHOUT ROWID;

-- The texts by their three-letter parts. Knows them up to `search_progress`; the few that came later are read one by one.
CREATE VIRTUAL TABLE noetl.search_index USING fts5 (text, content = '', columnsize = 0, detail = none, tokenize = 'trigram');

CREATE TABLE noetl.search_progress (last_text_id INTEGER NOT NULL);

INSERT INTO noetl.search_text (kind, text)
SELECT DISTINCT 'path', path FROM noetl.execution_record;

INSERT OR IGNORE INTO noetl.search_text (kind, text)
SELECT DISTINCT 'label', substr(key || '=' || value, 1, 1000)
FROM noetl.execution_record CROSS JOIN json_each(labels) WHERE labels IS NOT NULL;

INSERT OR IGNORE INTO noetl.search_text (kind, text)
SELECT DISTINCT 'error', substr(error, 1, 1000) FROM noetl.execution_record WHERE error IS NOT NULL;

INSERT OR IGNORE INTO noetl.execution_text (text_id, execution_id)
SELECT text_id, execution_id FROM noetl.execution_record CROSS JOIN json_each(labels) CROSS JOIN noetl.search_text
WHERE labels IS NOT NULL AND kind = 'label' AND text = substr(key || '=' || json_each.value, 1, 1000);

INSERT OR IGNORE INTO noetl.execution_text (text_id, execution_id)
SELECT text_id, execution_id FROM noetl.execution_record CROSS JOIN noetl.search_text
WHERE error IS NOT NULL AND kind = 'error' AND text = substr(error, 1, 1000);

INSERT INTO noetl.search_index (rowid, text) SELECT text_id, text FROM noetl.search_text;

INSERT INTO noetl.search_progress SELECT coalesce(max(text_id), 0) FROM noetl.search_text;

-- An event is found by its id alone, and ids that grow with time are appended instead of strewn about.
DROP INDEX noetl.event_by_id;
CREATE UNIQUE INDEX noetl.event_by_id ON event_record (event_id, execution_id);
