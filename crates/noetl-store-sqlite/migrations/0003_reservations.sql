-- Keys that start at most one execution say themselves until when. Those from before are over.
DROP INDEX noetl.subscription_dedup_by_age;
ALTER TABLE noetl.subscription_dedup RENAME TO subscription_dedup_before;

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

INSERT INTO noetl.subscription_dedup (subscription_id, dedup_key, execution_id, seen_at, expires_at)
SELECT subscription_id, dedup_key, execution_id, seen_at, seen_at FROM noetl.subscription_dedup_before;

DROP TABLE noetl.subscription_dedup_before;
