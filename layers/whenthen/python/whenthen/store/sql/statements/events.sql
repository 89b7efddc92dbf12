-- name: reserve_event
-- The primary key refuses a second arrival and with it the whole script.
INSERT INTO trigger_events (event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients)
VALUES (:event_id, :trigger_id, :occurred_at, :received_at, :execution_ids, :ingredients)

-- name: read_event
SELECT event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients
FROM trigger_events WHERE event_id = CAST(:event_id AS TEXT)
