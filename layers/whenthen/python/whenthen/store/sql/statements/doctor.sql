-- What `whenthen status` and `whenthen doctor` ask: whole tables, by hand, never on the way of an event.

-- name: count_due
-- A running one is due again when its lease has run out.
SELECT COUNT(*) AS due, SUM(CASE WHEN COALESCE(due_at, wake_at) <= :late THEN 1 ELSE 0 END) AS late,
    MIN(COALESCE(due_at, wake_at)) AS oldest
FROM executions_{place} WHERE COALESCE(due_at, wake_at) <= :now

-- name: count_due_checks
SELECT COUNT(*) AS late, MIN(next_check_at) AS oldest FROM checks WHERE next_check_at <= :late AND lease_until <= :now

-- name: list_all_applets
SELECT applet_id, owner_id, trigger_id, enabled, deleted_at FROM applets

-- name: list_all_triggers
SELECT trigger_id, owner_id, service, trigger_name, fields, listeners, revision FROM triggers

-- name: list_all_checks
SELECT * FROM checks

-- name: page_executions
-- Pages have a lower bound and a LIMIT: the server walks the key and reads the rows of the page alone.
SELECT execution_id, applet_id, owner_id, occurred_at, state, wake_at, ingredients <> '' AS has_ingredients
FROM executions_{place} WHERE execution_id > CAST(:after AS TEXT) ORDER BY execution_id LIMIT 5000

-- name: page_events
-- All of them, page by page, since nothing leads from a time to its events. Of older ones the id alone.
SELECT event_id, occurred_at, CASE WHEN received_at >= :since THEN trigger_id ELSE '' END AS trigger_id,
    CASE WHEN received_at >= :since THEN execution_ids ELSE '[]' END AS execution_ids
FROM trigger_events WHERE event_id > CAST(:after AS TEXT) ORDER BY event_id LIMIT 10000

-- name: list_logged
SELECT execution_id FROM execution_log_{month} WHERE slot = :slot

-- name: restore_event
INSERT INTO trigger_events (event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients)
VALUES (:event_id, :trigger_id, :occurred_at, :received_at, :execution_ids, :ingredients)
ON CONFLICT DO NOTHING

-- name: restore_execution
-- Final, and without ingredients: the event has them.
INSERT INTO executions_{place} (execution_id, applet_id, owner_id, occurred_at, state, ingredients, progress)
VALUES (:execution_id, :applet_id, :owner_id, :occurred_at, 'unknown', '', :progress)
ON CONFLICT DO NOTHING

-- name: resume_check
-- It goes on from where it was.
UPDATE checks SET next_check_at = CASE WHEN next_check_at IS NULL THEN :now ELSE next_check_at END
WHERE check_id = CAST(:check_id AS TEXT)
