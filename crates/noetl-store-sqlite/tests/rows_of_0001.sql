-- Rows as the first schema had them.
INSERT INTO noetl.catalog (catalog_id, path, version, kind, content, created_at)
VALUES (5, 'flows/one', 1, 'playbook', 'kind: Playbook', '2026-01-31T12:00:00.000000Z');

INSERT INTO noetl.execution_record (
    execution_id, seq, status, catalog_id, version, path, started_at, last_event_id, last_event_at, last_event_type,
    last_node_name, labels
) VALUES (7, 2, 'RUNNING', 5, 1, 'flows/one', 1769860800000000, 72, 1769860801000000, 'step.enter', 'work', '{"team":"data"}');

INSERT INTO noetl.event_record (execution_id, seq, event_id, at, body)
VALUES
    (7, 1, 71, 1769860800000000, '{"type":"playbook_started","execution":7,"path":"flows/one","workload":{"n":1}}'),
    (7, 2, 72, 1769860801000000, '{"type":"step.enter","step":"work","visit":1}');

INSERT INTO noetl.command_record (
    execution_id, command_key, attempt, event_id, status, lease_until, step_name, tool_kind, pool, priority, issued_at, body
) VALUES (7, '1', 1, 73, 'PENDING', 0, 'work', 'python', 'shared', 0, 1769860801000000, '{}');

INSERT INTO noetl.result_store (
    result_id, execution_id, name, scope, data, bytes, sha256, media_type, created_at
) VALUES (
    1, 7, 'big', 'execution', '[1]', 3, '080a9ed428559ef602668b4c00f114f1a11c3f6b02a435f0bdc154578e4d7f22',
    'application/json', '2026-01-31T12:00:00.000000Z'
);
