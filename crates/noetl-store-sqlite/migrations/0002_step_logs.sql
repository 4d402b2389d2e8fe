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
