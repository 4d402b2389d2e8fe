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

-- The view of events says of steps that were kept that they were.
DROP VIEW noetl.event_log;
DROP VIEW noetl.event;

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
