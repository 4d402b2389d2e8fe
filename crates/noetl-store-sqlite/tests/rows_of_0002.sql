-- Rows as the second schema had them.
INSERT INTO noetl.step_log (execution_id, step_name, visit, command_key, attempt, stream, chunk, byte_offset, dropped, at, bytes)
VALUES (7, 'work', 1, '1', 1, 'stdout', 0, 0, 0, 1769860801000000, x'68656c6c6f');

INSERT INTO noetl.subscription_dedup (subscription_id, dedup_key, execution_id, seen_at)
VALUES (0, 'order-1', 7, '2026-01-31T12:00:00.000000Z');
