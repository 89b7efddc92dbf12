-- name: reserve_execution
INSERT INTO executions_{slot} (execution_id, event_id, applet_id, owner_id, state, reason, occurred_at,
    due_at, wake_at, claim, step, tries, sending, attempts, finished_at)
VALUES (:execution_id, :event_id, :applet_id, :owner_id, 'queued', '', :occurred_at,
    :due_at, :wake_at, '', 0, 0, -1, '[]', NULL)

-- name: claim_execution
-- Compare-and-set in CASE: a WHERE on more than the key scans. Every expression sees the row as it was.
UPDATE executions_{slot} SET
    claim = CASE WHEN (state = 'queued' OR state = 'waiting') AND due_at <= :now THEN :claim ELSE claim END,
    wake_at = CASE WHEN (state = 'queued' OR state = 'waiting') AND due_at <= :now THEN :lease_until ELSE wake_at END,
    state = CASE WHEN (state = 'queued' OR state = 'waiting') AND due_at <= :now THEN 'running' ELSE state END
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: mark_sending
-- Written before a request that can't be repeated leaves: from here on a crash means `unknown`.
UPDATE executions_{slot} SET
    sending = CASE WHEN claim = :claim AND state = 'running' THEN :step ELSE sending END,
    wake_at = CASE WHEN claim = :claim AND state = 'running' THEN :lease_until ELSE wake_at END
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: record_outcome
-- `unknown` is replaced too: an answer that comes after the lease ran out is still the answer.
UPDATE executions_{slot} SET
    state = CASE WHEN claim = :claim AND (state = 'running' OR state = 'unknown') THEN :state ELSE state END,
    reason = CASE WHEN claim = :claim AND (state = 'running' OR state = 'unknown') THEN :reason ELSE reason END,
    due_at = CASE WHEN claim = :claim AND (state = 'running' OR state = 'unknown') THEN :due_at ELSE due_at END,
    wake_at = CASE WHEN claim = :claim AND (state = 'running' OR state = 'unknown') THEN :wake_at ELSE wake_at END,
    step = CASE WHEN claim = :claim AND (state = 'running' OR state = 'unknown') THEN :step ELSE step END,
    tries = CASE WHEN claim = :claim AND (state = 'running' OR state = 'unknown') THEN :tries ELSE tries END,
    sending = CASE WHEN claim = :claim AND (state = 'running' OR state = 'unknown') THEN :sending ELSE sending END,
    attempts = CASE WHEN claim = :claim AND (state = 'running' OR state = 'unknown') THEN :attempts ELSE attempts END,
    finished_at = CASE WHEN claim = :claim AND (state = 'running' OR state = 'unknown')
        THEN :finished_at ELSE finished_at END
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: wake_again
-- The sweep has sent another wake-up: look again later. Guarded by the `wake_at` that the sweep read.
UPDATE executions_{slot} SET
    wake_at = CASE WHEN wake_at = :seen_wake_at THEN :wake_at ELSE wake_at END
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: release_execution
-- A lease has run out. Guarded by all that the sweep has read: a worker that is late but alive may have written
-- `sending` since, and then its request is on the way.
UPDATE executions_{slot} SET
    state = CASE WHEN claim = :claim AND state = 'running' AND wake_at = :seen_wake_at AND sending = :seen_sending
        THEN :state ELSE state END,
    reason = CASE WHEN claim = :claim AND state = 'running' AND wake_at = :seen_wake_at AND sending = :seen_sending
        THEN :reason ELSE reason END,
    tries = CASE WHEN claim = :claim AND state = 'running' AND wake_at = :seen_wake_at AND sending = :seen_sending
        THEN tries + 1 ELSE tries END,
    attempts = CASE WHEN claim = :claim AND state = 'running' AND wake_at = :seen_wake_at AND sending = :seen_sending
        THEN :attempts ELSE attempts END,
    finished_at = CASE WHEN claim = :claim AND state = 'running' AND wake_at = :seen_wake_at AND sending = :seen_sending
        THEN :finished_at ELSE finished_at END,
    wake_at = CASE WHEN claim = :claim AND state = 'running' AND wake_at = :seen_wake_at AND sending = :seen_sending
        THEN :wake_at ELSE wake_at END
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: requeue_execution
-- The owner asked for it. A claim that nobody holds makes a late answer of the earlier run harmless.
UPDATE executions_{slot} SET
    state = CASE WHEN finished_at = :seen_finished_at THEN 'queued' ELSE NULL END,
    reason = '', due_at = :now, wake_at = :wake_at, claim = '', step = :step, tries = 0, sending = -1,
    finished_at = NULL
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: select_execution
SELECT 'execution' AS kind, execution_id AS id, owner_id AS owner_id, event_id AS event_id, applet_id AS applet_id, claim AS claim,
       state AS state, reason AS reason, step AS step, tries AS tries, sending AS sending,
       occurred_at AS occurred_at, attempts AS body
FROM executions_{slot} WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: select_event
-- Same columns as select_execution, to stand in one UNION ALL with it.
SELECT 'event' AS kind, event_id AS id, '' AS owner_id, event_id AS event_id, '' AS applet_id, '' AS claim,
       '' AS state, '' AS reason, CAST(0 AS BIGINT) AS step, CAST(0 AS BIGINT) AS tries, CAST(0 AS BIGINT) AS sending,
       occurred_at AS occurred_at, ingredients AS body
FROM trigger_events WHERE event_id = CAST(:event_id AS TEXT)

-- name: select_applet
-- Same columns as select_execution, to stand in one UNION ALL with it.
SELECT 'applet' AS kind, applet_id AS id, owner_id AS owner_id, '' AS event_id, applet_id AS applet_id, '' AS claim,
       CASE WHEN deleted_at IS NOT NULL THEN 'deleted' WHEN enabled THEN 'on' ELSE 'off' END AS state,
       '' AS reason, CAST(0 AS BIGINT) AS step, version AS tries, CAST(0 AS BIGINT) AS sending,
       updated_at AS occurred_at, definition AS body
FROM applets WHERE applet_id = CAST(:applet_id AS TEXT)

-- name: read_execution
SELECT execution_id, event_id, applet_id, owner_id, state, reason, occurred_at, due_at, wake_at, claim, step,
       tries, sending, attempts, finished_at
FROM executions_{slot} WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: list_due
-- The sweep: one scan of each slot that is not settled, once a minute.
SELECT execution_id, event_id, applet_id, state, wake_at, due_at, claim, step, tries, sending, attempts
FROM executions_{slot} WHERE wake_at <= :now LIMIT 1000

-- name: list_activity
-- A page of the owner's activity in one slot, newest first.
SELECT execution_id, event_id, applet_id, owner_id, state, reason, occurred_at, due_at, wake_at, claim, step,
       tries, sending, attempts, finished_at
FROM executions_{slot}
WHERE owner_id = :owner_id
  AND (:applet_id = '' OR applet_id = :applet_id) AND (:state = '' OR state = :state)
  AND (occurred_at < :before_at OR (occurred_at = :before_at AND execution_id < :before_id))
ORDER BY occurred_at DESC, execution_id DESC LIMIT 200
