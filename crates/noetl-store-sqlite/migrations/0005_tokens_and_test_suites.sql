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
