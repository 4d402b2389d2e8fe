-- The whole schema as the migrations leave it, to be read in one place. A test holds it equal to them.

CREATE TABLE noetl.schema_version (
    version    INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    applied_at TEXT NOT NULL
);

-- Events, commands and executions are written with every commit. They are kept compactly in tables named `…_record`,
-- with instants as microseconds since 1970; the views `event`, `command` and `execution` present them under their
-- documented names and columns and cost nothing until somebody reads them. The other tables have their documented names
-- and columns themselves, with instants as RFC 3339 text in UTC with microseconds, which sorts in time order.
--
-- JSON is kept as text. A column that holds either text or bytes has no type.

-- Kinds of catalog entries.
CREATE TABLE noetl.resource (
    name TEXT NOT NULL PRIMARY KEY,
    meta TEXT
) WITHOUT ROWID;

INSERT INTO noetl.resource (name)
VALUES ('playbook'), ('credential'), ('mcp'), ('agent'), ('memory'), ('subscription');

CREATE TABLE noetl.catalog (
    catalog_id    INTEGER PRIMARY KEY,
    path          TEXT NOT NULL,
    version       INTEGER NOT NULL CONSTRAINT catalog_version_positive CHECK (version > 0),
    kind          TEXT NOT NULL CONSTRAINT catalog_kind_exists REFERENCES resource (name),
    content       TEXT,
    layout        TEXT,
    payload       TEXT,
    meta          TEXT,
    created_at    TEXT NOT NULL,
    credential_id INTEGER,
    -- Set when the entry no longer resolves by path.
    archived_at   TEXT,
    CONSTRAINT catalog_path_version UNIQUE (path, version)
);

CREATE TABLE noetl.execution_record (
    execution_id        INTEGER PRIMARY KEY,
    -- The seq of the newest event. A commit must name it to go on from here.
    seq                 INTEGER NOT NULL CONSTRAINT execution_seq_positive CHECK (seq > 0),
    status              TEXT NOT NULL,
    catalog_id          INTEGER NOT NULL,
    version             INTEGER NOT NULL,
    path                TEXT NOT NULL,
    parent_execution_id INTEGER,
    started_at          INTEGER NOT NULL,
    ended_at            INTEGER,
    last_event_id       INTEGER NOT NULL,
    last_event_at       INTEGER NOT NULL,
    last_event_type     TEXT NOT NULL,
    last_node_name      TEXT,
    labels              TEXT,
    meta                TEXT,
    error               TEXT,
    result              TEXT,
    pool                TEXT NOT NULL DEFAULT 'shared'
);

CREATE INDEX noetl.execution_by_status ON execution_record (status);
CREATE INDEX noetl.execution_by_parent ON execution_record (parent_execution_id)
WHERE parent_execution_id IS NOT NULL;

CREATE INDEX noetl.execution_by_path_and_status ON execution_record (path, status);
CREATE INDEX noetl.execution_by_catalog_and_status ON execution_record (catalog_id, status);
CREATE INDEX noetl.execution_by_pool ON execution_record (pool);
CREATE INDEX noetl.execution_by_start ON execution_record (started_at);

-- The hot table. Rows are appended at its end whatever their execution, and two narrow indexes give them their order:
-- measured against a table clustered by execution this writes half as many pages per commit.
CREATE TABLE noetl.event_record (
    execution_id INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    event_id     INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    -- Where the event gives the outcome of a loop item: the visit of its step and the index of the item.
    loop_visit   INTEGER,
    loop_index   INTEGER,
    -- The whole event as JSON, tagged with its `type`.
    body         TEXT NOT NULL
);

CREATE UNIQUE INDEX noetl.event_by_seq ON event_record (execution_id, seq);
-- An event is found by its id alone, and ids that grow with time are appended instead of strewn about.
CREATE UNIQUE INDEX noetl.event_by_id ON event_record (event_id, execution_id);
CREATE INDEX noetl.event_by_loop ON event_record (execution_id, loop_visit, loop_index, seq)
WHERE loop_visit IS NOT NULL;

CREATE TABLE noetl.command_record (
    execution_id INTEGER NOT NULL,
    -- Which share of which visit: `3`, `3.i1` for a loop item, `3.c0` for a cursor's claim, `+n` for later parts.
    command_key  TEXT NOT NULL,
    attempt      INTEGER NOT NULL,
    -- The `command.issued` event.
    event_id     INTEGER NOT NULL,
    status       TEXT NOT NULL,
    -- Until when the worker has it; 0 while nobody does; nothing when the attempt is closed.
    lease_until  INTEGER,
    worker_id    TEXT,
    step_name    TEXT NOT NULL,
    tool_kind    TEXT NOT NULL,
    pool         TEXT NOT NULL,
    priority     INTEGER NOT NULL,
    issued_at    INTEGER NOT NULL,
    claimed_at   INTEGER,
    closed_at    INTEGER,
    -- What the worker needs; dropped when the attempt closes.
    body,
    PRIMARY KEY (execution_id, command_key, attempt)
) WITHOUT ROWID;

CREATE INDEX noetl.command_by_event ON command_record (event_id);
-- Open commands alone, so that neither list nor lease checks see the closed ones.
CREATE INDEX noetl.command_by_lease ON command_record (lease_until)
WHERE lease_until IS NOT NULL;

CREATE TABLE noetl.timer (
    execution_id INTEGER NOT NULL,
    timer_key    TEXT NOT NULL,
    due_at       INTEGER NOT NULL,
    -- When it can be claimed: at first when it is due, later when its last claim has run out.
    visible_at   INTEGER NOT NULL,
    PRIMARY KEY (execution_id, timer_key)
) WITHOUT ROWID;

CREATE INDEX noetl.timer_by_visibility ON timer (visible_at);

CREATE TABLE noetl.outbox (
    outbox_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    execution_id  INTEGER NOT NULL,
    event_id      INTEGER NOT NULL,
    subject       TEXT NOT NULL,
    payload       TEXT NOT NULL,
    payload_bytes BLOB,
    payload_codec TEXT NOT NULL DEFAULT 'json',
    status        TEXT NOT NULL DEFAULT 'PENDING'
        CONSTRAINT outbox_status_known CHECK (status IN ('PENDING', 'IN_FLIGHT', 'PUBLISHED', 'FAILED')),
    attempts      INTEGER NOT NULL DEFAULT 0,
    available_at  TEXT NOT NULL,
    locked_at     TEXT,
    published_at  TEXT,
    last_error    TEXT,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL,
    CONSTRAINT outbox_event UNIQUE (execution_id, event_id)
);

-- What is not published yet, which is little.
CREATE INDEX noetl.outbox_waiting ON outbox (outbox_id)
WHERE status <> 'PUBLISHED';
CREATE INDEX noetl.outbox_published ON outbox (published_at)
WHERE status = 'PUBLISHED';

CREATE TABLE noetl.projection_snapshot (
    aggregate_id    TEXT NOT NULL,
    aggregate_type  TEXT NOT NULL,
    tenant_id       TEXT NOT NULL DEFAULT 'default',
    organization_id TEXT NOT NULL DEFAULT 'default',
    -- The highest event id folded in; `meta.applied_count` is the seq.
    version         INTEGER NOT NULL,
    snapshot        NOT NULL,
    checksum        TEXT NOT NULL,
    meta            TEXT,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    PRIMARY KEY (tenant_id, organization_id, aggregate_type, aggregate_id)
);

CREATE TABLE noetl.result_store (
    result_id    INTEGER NOT NULL,
    execution_id INTEGER NOT NULL,
    name         TEXT NOT NULL,
    scope        TEXT NOT NULL,
    source_step  TEXT,
    data         NOT NULL,
    bytes        INTEGER NOT NULL,
    sha256       TEXT NOT NULL,
    media_type   TEXT NOT NULL DEFAULT 'application/json',
    created_at   TEXT NOT NULL,
    expires_at   TEXT,
    CONSTRAINT result_identity UNIQUE (execution_id, result_id)
);

CREATE INDEX noetl.result_by_name ON result_store (execution_id, name, result_id);
CREATE INDEX noetl.result_by_expiry ON result_store (expires_at)
WHERE expires_at IS NOT NULL;

CREATE TABLE noetl.transient (
    execution_id INTEGER NOT NULL,
    var_name     TEXT NOT NULL,
    var_type     TEXT NOT NULL
        CONSTRAINT transient_type_known
        CHECK (var_type IN ('user_defined', 'step_result', 'computed', 'iterator_state')),
    var_value    TEXT NOT NULL,
    source_step  TEXT,
    created_at   TEXT NOT NULL,
    accessed_at  TEXT,
    access_count INTEGER NOT NULL DEFAULT 0,
    expires_at   TEXT,
    scope        TEXT NOT NULL DEFAULT 'execution'
        CONSTRAINT transient_scope_known CHECK (scope IN ('step', 'execution', 'workflow', 'permanent')),
    PRIMARY KEY (execution_id, var_name)
) WITHOUT ROWID;

CREATE TABLE noetl.credential (
    id             INTEGER PRIMARY KEY,
    name           TEXT NOT NULL CONSTRAINT credential_name UNIQUE,
    type           TEXT NOT NULL,
    data_encrypted BLOB NOT NULL,
    schema         TEXT,
    meta           TEXT,
    -- A JSON list.
    tags           TEXT,
    description    TEXT,
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL
);

CREATE TABLE noetl.keychain (
    cache_key           TEXT NOT NULL PRIMARY KEY,
    keychain_name       TEXT NOT NULL,
    catalog_id          INTEGER NOT NULL,
    credential_type     TEXT NOT NULL,
    cache_type          TEXT NOT NULL
        CONSTRAINT keychain_cache_type_known CHECK (cache_type IN ('secret', 'token')),
    scope_type          TEXT NOT NULL
        CONSTRAINT keychain_scope_known CHECK (scope_type IN ('local', 'global', 'shared')),
    execution_id        INTEGER,
    parent_execution_id INTEGER,
    data_encrypted      BLOB NOT NULL,
    schema              TEXT,
    expires_at          TEXT NOT NULL,
    created_at          TEXT NOT NULL,
    accessed_at         TEXT,
    access_count        INTEGER NOT NULL DEFAULT 0,
    auto_renew          INTEGER NOT NULL DEFAULT 0,
    renew_config        TEXT
) WITHOUT ROWID;

CREATE INDEX noetl.keychain_by_catalog ON keychain (catalog_id);
CREATE INDEX noetl.keychain_by_expiry ON keychain (expires_at);

CREATE TABLE noetl.runtime (
    runtime_id   INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,
    kind         TEXT NOT NULL
        CONSTRAINT runtime_kind_known CHECK (kind IN ('worker_pool', 'server_api', 'broker')),
    uri          TEXT,
    status       TEXT NOT NULL,
    labels       TEXT,
    capabilities TEXT,
    capacity     INTEGER,
    runtime      TEXT,
    heartbeat    TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    CONSTRAINT runtime_name UNIQUE (kind, name)
);

CREATE TABLE noetl.schedule (
    schedule_id      INTEGER PRIMARY KEY,
    playbook_path    TEXT NOT NULL,
    playbook_version INTEGER,
    cron             TEXT,
    interval_seconds INTEGER,
    enabled          INTEGER NOT NULL DEFAULT 1,
    timezone         TEXT NOT NULL DEFAULT 'UTC',
    next_run_at      TEXT,
    last_run_at      TEXT,
    last_status      TEXT,
    input_payload    TEXT,
    created_at       TEXT NOT NULL,
    updated_at       TEXT NOT NULL,
    meta             TEXT
);

CREATE TABLE noetl.audit (
    audit_id     INTEGER PRIMARY KEY,
    occurred_at  TEXT NOT NULL,
    actor        TEXT NOT NULL,
    action       TEXT NOT NULL,
    target       TEXT NOT NULL,
    outcome      TEXT NOT NULL,
    execution_id INTEGER,
    details      TEXT
);

CREATE TABLE noetl.plugin_module (
    path       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    digest     TEXT NOT NULL,
    media_type TEXT NOT NULL DEFAULT 'application/wasm',
    bytes      BLOB NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (path, version)
);

CREATE TABLE noetl.object_store (
    object_key TEXT NOT NULL PRIMARY KEY,
    digest     TEXT NOT NULL,
    media_type TEXT NOT NULL DEFAULT 'application/octet-stream',
    bytes      BLOB NOT NULL,
    created_at TEXT NOT NULL
);

-- Values that workers keep for an execution are found by the part of their key that says which execution and which value.
CREATE INDEX noetl.object_by_tail ON object_store (substr(object_key, instr(object_key, '/execution=')), created_at)
WHERE instr(object_key, '/execution=') > 0;

CREATE TABLE noetl.subscription_dedup (
    -- The parent whose key it is; 0 for a key that is everybody's.
    subscription_id INTEGER NOT NULL,
    dedup_key       TEXT NOT NULL,
    execution_id    INTEGER NOT NULL,
    seen_at         TEXT NOT NULL,
    -- From then on the key is free again.
    expires_at      TEXT NOT NULL,
    PRIMARY KEY (subscription_id, dedup_key)
) WITHOUT ROWID;

CREATE INDEX noetl.subscription_dedup_by_expiry ON subscription_dedup (expires_at);

-- What each subscription is to do now. The events that led there are in the event log, under the id of the subscription.
CREATE TABLE noetl.subscription (
    subscription_id INTEGER PRIMARY KEY,
    path            TEXT NOT NULL,
    catalog_id      INTEGER NOT NULL,
    state           TEXT NOT NULL
        CONSTRAINT subscription_state_known
        CHECK (state IN ('REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED')),
    last_event_type TEXT NOT NULL,
    -- Counts changes of state. A change must name it to go on from here.
    version         INTEGER NOT NULL,
    -- The seq of the newest event.
    seq             INTEGER NOT NULL,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL
);

CREATE INDEX noetl.subscription_by_path ON subscription (path);
CREATE UNIQUE INDEX noetl.subscription_live ON subscription (path)
WHERE state <> 'DEACTIVATED';

CREATE VIEW noetl.execution AS
SELECT
    execution_id,
    catalog_id,
    parent_execution_id,
    status,
    last_event_type,
    last_node_name,
    last_event_id,
    strftime('%Y-%m-%dT%H:%M:%S', started_at / 1000000, 'unixepoch') || printf('.%06dZ', started_at % 1000000) AS start_time,
    strftime('%Y-%m-%dT%H:%M:%S', ended_at / 1000000, 'unixepoch') || printf('.%06dZ', ended_at % 1000000) AS end_time,
    error,
    (
        SELECT snapshot FROM projection_snapshot
        WHERE tenant_id = 'default' AND organization_id = 'default'
            AND aggregate_type = 'orchestrator_workflow_state'
            AND aggregate_id = CAST(execution_record.execution_id AS TEXT)
    ) AS state,
    strftime('%Y-%m-%dT%H:%M:%S', started_at / 1000000, 'unixepoch') || printf('.%06dZ', started_at % 1000000) AS created_at,
    strftime('%Y-%m-%dT%H:%M:%S', last_event_at / 1000000, 'unixepoch') || printf('.%06dZ', last_event_at % 1000000) AS updated_at,
    path,
    version,
    seq AS event_count,
    (coalesce(ended_at, last_event_at) - started_at) / 1000000.0 AS duration,
    result,
    labels,
    meta
FROM execution_record;

CREATE VIEW noetl.command AS
SELECT
    event_id AS command_id,
    event_id,
    execution_id,
    (SELECT catalog_id FROM execution_record e WHERE e.execution_id = c.execution_id) AS catalog_id,
    (SELECT parent_execution_id FROM execution_record e WHERE e.execution_id = c.execution_id) AS parent_execution_id,
    NULL AS parent_command_id,
    step_name,
    tool_kind,
    status,
    worker_id,
    strftime('%Y-%m-%dT%H:%M:%S', claimed_at / 1000000, 'unixepoch') || printf('.%06dZ', claimed_at % 1000000) AS claimed_at,
    strftime('%Y-%m-%dT%H:%M:%S', claimed_at / 1000000, 'unixepoch') || printf('.%06dZ', claimed_at % 1000000) AS started_at,
    strftime('%Y-%m-%dT%H:%M:%S', closed_at / 1000000, 'unixepoch') || printf('.%06dZ', closed_at % 1000000) AS completed_at,
    attempt,
    body AS context,
    NULL AS context_key,
    NULL AS loop_event_id,
    CASE WHEN instr(command_key, '.i') THEN CAST(substr(command_key, instr(command_key, '.i') + 2) AS INTEGER) END AS iter_index,
    json_object(
        'command_id', execution_id || ':' || step_name || ':' || event_id,
        'command_key', command_key, 'pool', pool, 'priority', priority
    ) AS meta,
    NULL AS result,
    NULL AS error,
    event_id AS latest_event_id,
    NULL AS prev_event_id,
    NULL AS stage_id,
    NULL AS frame_id,
    strftime('%Y-%m-%dT%H:%M:%S', issued_at / 1000000, 'unixepoch') || printf('.%06dZ', issued_at % 1000000) AS created_at,
    strftime('%Y-%m-%dT%H:%M:%S', coalesce(closed_at, claimed_at, issued_at) / 1000000, 'unixepoch')
    || printf('.%06dZ', coalesce(closed_at, claimed_at, issued_at) % 1000000) AS updated_at
FROM command_record c;

CREATE VIEW noetl.event AS
WITH
typed AS (
    SELECT
        execution_id,
        seq,
        event_id,
        at,
        body,
        body ->> '$.type' AS event_type,
        body ->> '$.step' AS step,
        CASE
            WHEN body -> '$.command' IS NOT NULL
                THEN (body ->> '$.command.visit')
                || coalesce('.i' || (body ->> '$.command.item.at'), '')
                || coalesce('.c' || (body ->> '$.command.item.claim'), '')
                || CASE WHEN body ->> '$.command.part' > 0 THEN '+' || (body ->> '$.command.part') ELSE '' END
        END AS command_key,
        CASE body ->> '$.type'
            WHEN 'playbook_started' THEN 'STARTED'
            WHEN 'step.enter' THEN 'ENTERED'
            WHEN 'step.skipped' THEN 'SKIPPED'
            WHEN 'step.kept' THEN 'KEPT'
            WHEN 'step.timeout' THEN 'TIMEOUT'
            WHEN 'step.exit' THEN upper(body ->> '$.status')
            WHEN 'command.issued' THEN 'PENDING'
            WHEN 'command.started' THEN 'STARTED'
            WHEN 'command.lost' THEN 'LOST'
            WHEN 'call.done' THEN 'COMPLETED'
            WHEN 'call.error' THEN 'FAILED'
            WHEN 'call.suspended' THEN 'SUSPENDED'
            WHEN 'call.ignored' THEN 'IGNORED'
            WHEN 'ctx.updated' THEN 'CONTEXT'
            WHEN 'child.started' THEN 'STARTED'
            WHEN 'signal.received' THEN 'RECEIVED'
            WHEN 'playbook.paused' THEN 'PAUSED'
            WHEN 'playbook.completed' THEN 'COMPLETED'
            WHEN 'playbook.failed' THEN 'FAILED'
            WHEN 'playbook.cancelled' THEN 'CANCELLED'
            ELSE CASE WHEN body ->> '$.type' LIKE 'subscription.%' THEN body ->> '$.status' ELSE 'RUNNING' END
        END AS status
    FROM event_record
)
SELECT
    execution_id,
    CASE
        WHEN event_type LIKE 'subscription.%' THEN body ->> '$.catalog_id'
        ELSE (SELECT catalog_id FROM execution_record r WHERE r.execution_id = e.execution_id)
    END AS catalog_id,
    event_id,
    NULL AS parent_event_id,
    (SELECT parent_execution_id FROM execution_record r WHERE r.execution_id = e.execution_id) AS parent_execution_id,
    strftime('%Y-%m-%dT%H:%M:%S', at / 1000000, 'unixepoch') || printf('.%06dZ', at % 1000000) AS created_at,
    event_type,
    CASE
        WHEN event_type LIKE 'playbook%' THEN 'playbook'
        WHEN event_type LIKE 'subscription.%' THEN 'subscription'
        ELSE step
    END AS node_id,
    CASE
        WHEN event_type = 'playbook_started' OR event_type LIKE 'subscription.%' THEN body ->> '$.path'
        WHEN event_type LIKE 'playbook%' THEN 'playbook'
        ELSE step
    END AS node_name,
    CASE
        WHEN event_type LIKE 'playbook%' THEN 'execution'
        WHEN event_type LIKE 'subscription.%' THEN 'subscription'
        WHEN event_type = 'command.issued' THEN body ->> '$.tool'
    END AS node_type,
    status,
    (body ->> '$.outcome.report.duration_ms') / 1000.0 AS duration,
    CASE
        WHEN event_type = 'playbook_started' THEN json_object(
            'catalog_id', body ->> '$.catalog_id', 'execution_id', body ->> '$.execution', 'path', body ->> '$.path',
            'workload', body -> '$.workload'
        )
        WHEN event_type LIKE 'subscription.%' THEN body -> '$.context'
    END AS context,
    CASE
        WHEN event_type IN ('call.done', 'call.error') THEN json_object(
            'status', status,
            'context', json_object(
                'command_id', command_key,
                'result', CASE
                    WHEN body -> '$.outcome.report.data.stored' IS NOT NULL THEN json_object(
                        'status', CASE WHEN body -> '$.outcome.report.error' IS NULL THEN 'success' ELSE 'error' END,
                        'context', json_object('data', json_object('_ref', body ->> '$.outcome.report.data.stored.uri')),
                        'reference', json_object(
                            'kind', 'result_ref', 'ref', body ->> '$.outcome.report.data.stored.uri',
                            'store', body ->> '$.outcome.report.data.stored.store',
                            'meta', json_object(
                                'bytes', body ->> '$.outcome.report.data.stored.bytes',
                                'sha256', body ->> '$.outcome.report.data.stored.sha256',
                                'media_type', body ->> '$.outcome.report.data.stored.media_type'
                            ),
                            'extracted', body -> '$.outcome.report.data.stored.extract'
                        )
                    )
                    ELSE json_object(
                        'status', CASE WHEN body -> '$.outcome.report.error' IS NULL THEN 'success' ELSE 'error' END,
                        'context', json_object('data', body -> '$.outcome.report.data.inline')
                    )
                END,
                'error', body -> '$.outcome.report.error'
            )
        )
        WHEN event_type = 'step.exit' AND body -> '$.result.stored' IS NOT NULL
            THEN json_object('status', status, 'reference', body -> '$.result.stored')
        WHEN event_type = 'step.exit' AND body -> '$.result.inline' IS NOT NULL
            THEN json_object('status', status, 'context', json_object('data', body -> '$.result.inline'))
        WHEN event_type = 'ctx.updated'
            THEN json_object('status', status, 'context', json_object('step', step, 'sets', body -> '$.sets'))
        WHEN event_type = 'signal.received'
            THEN json_object('status', status, 'context', json_object('name', body -> '$.name', 'payload', body -> '$.payload'))
        WHEN event_type = 'playbook_started' OR event_type LIKE 'subscription.%' THEN NULL
        ELSE json_object('status', status)
    END AS result,
    CASE
        WHEN command_key IS NOT NULL THEN json_object('command_key', command_key, 'attempt', body -> '$.attempt')
        WHEN event_type = 'playbook_started' OR event_type LIKE 'subscription.%' THEN body -> '$.meta'
        WHEN event_type = 'playbook.failed' THEN json_object('error', body -> '$.error', 'failed_steps', body -> '$.failed_steps')
    END AS meta,
    coalesce(body ->> '$.outcome.report.error.message', body ->> '$.error.message') AS error,
    body ->> '$.command.item.at' AS current_index,
    NULL AS current_item,
    body ->> '$.worker' AS worker_id,
    NULL AS distributed_state,
    NULL AS context_key,
    NULL AS context_value,
    NULL AS trace_component,
    NULL AS stack_trace,
    'default' AS tenant_id,
    'default' AS organization_id,
    CAST(execution_id AS TEXT) AS stream_id,
    seq AS stream_version,
    CAST(execution_id AS TEXT) AS aggregate_id,
    CASE WHEN event_type LIKE 'subscription.%' THEN 'subscription' ELSE 'execution' END AS aggregate_type,
    event_type AS schema_name,
    1 AS schema_version,
    strftime('%Y-%m-%dT%H:%M:%S', at / 1000000, 'unixepoch') || printf('.%06dZ', at % 1000000) AS event_time,
    strftime('%Y-%m-%dT%H:%M:%S', at / 1000000, 'unixepoch') || printf('.%06dZ', at % 1000000) AS ingest_time,
    NULL AS producer,
    NULL AS causation_id,
    CAST(execution_id AS TEXT) AS correlation_id,
    CAST(event_id AS TEXT) AS idempotency_key,
    body -> '$.outcome.report.data.stored' AS payload_ref,
    NULL AS envelope_checksum,
    (SELECT p.event_id FROM event_record p WHERE p.execution_id = e.execution_id AND p.seq = e.seq - 1) AS prev_event_id,
    NULL AS command_id,
    NULL AS stage_id,
    NULL AS frame_id,
    seq,
    body
FROM typed e;

CREATE VIEW noetl.event_log AS SELECT * FROM event;

CREATE VIEW noetl.secret_audit AS
SELECT
    audit_id,
    occurred_at,
    target AS credential,
    substr(action, 12) AS operation,
    outcome,
    actor AS worker_id,
    execution_id,
    details ->> '$.parent_execution_id' AS parent_execution_id,
    details ->> '$.server_region' AS server_region,
    details ->> '$.broker_region' AS broker_region,
    details ->> '$.kek_version' AS kek_version,
    details ->> '$.notes' AS notes
FROM audit
WHERE action LIKE 'credential.%';

-- What steps print, in chunks.
CREATE TABLE noetl.step_log (
    -- Grows and is never used again, so that whoever follows a log misses nothing.
    log_id       INTEGER PRIMARY KEY AUTOINCREMENT,
    execution_id INTEGER NOT NULL,
    step_name    TEXT NOT NULL,
    visit        INTEGER NOT NULL,
    command_key  TEXT NOT NULL,
    attempt      INTEGER NOT NULL,
    stream       TEXT NOT NULL CONSTRAINT step_log_stream_known CHECK (stream IN ('stdout', 'stderr')),
    chunk        INTEGER NOT NULL,
    -- Where the bytes begin in the attempt's stream.
    byte_offset  INTEGER NOT NULL,
    -- Bytes of the chunk that were over the limit and are gone.
    dropped      INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    bytes        BLOB NOT NULL,
    CONSTRAINT step_log_chunk UNIQUE (execution_id, command_key, attempt, stream, chunk)
);

CREATE INDEX noetl.step_log_by_execution ON step_log (execution_id, log_id);

-- Who may call the server. The secret itself is nowhere.
CREATE TABLE noetl.api_token (
    token_id     INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,
    -- The SHA-256 of the secret in hexadecimal.
    hash         TEXT NOT NULL CONSTRAINT api_token_hash UNIQUE,
    -- A JSON list.
    scopes       TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    expires_at   TEXT,
    last_used_at TEXT,
    revoked_at   TEXT
);

-- Test suites that people keep with the user interface.
CREATE TABLE noetl.playbook_test_suite (
    suite_id      TEXT NOT NULL PRIMARY KEY,
    file_path     TEXT,
    playbook_path TEXT NOT NULL,
    tests         TEXT,
    metadata      TEXT,
    updated_at    TEXT NOT NULL
);

-- How many executions there are, counted as they change.
CREATE TABLE noetl.execution_count (
    status     TEXT NOT NULL PRIMARY KEY,
    executions INTEGER NOT NULL
) WITHOUT ROWID;

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

INSERT INTO noetl.search_progress VALUES (0);

-- Audit rows and keychain entries are found by what they belong to.
CREATE INDEX noetl.audit_by_target ON audit (target);
CREATE INDEX noetl.audit_by_execution ON audit (execution_id)
WHERE execution_id IS NOT NULL;
CREATE INDEX noetl.keychain_by_execution ON keychain (execution_id)
WHERE execution_id IS NOT NULL;

-- Executions that refer to values of earlier ones, which must stay as long as they do.
CREATE TABLE noetl.execution_borrow (
    execution_id INTEGER NOT NULL,
    lender_id    INTEGER NOT NULL,
    PRIMARY KEY (lender_id, execution_id)
) WITHOUT ROWID;

CREATE INDEX noetl.execution_borrow_by_execution ON execution_borrow (execution_id);

-- Events that others told of, each once, as they came.
CREATE TABLE noetl.projected_event (
    execution_id INTEGER NOT NULL,
    event_id     INTEGER NOT NULL,
    event_type   TEXT NOT NULL,
    at           INTEGER NOT NULL,
    -- The whole event as JSON.
    envelope     TEXT NOT NULL,
    PRIMARY KEY (execution_id, event_id)
) WITHOUT ROWID;

CREATE INDEX noetl.projected_event_by_time ON projected_event (at);
