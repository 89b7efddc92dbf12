-- name: reserve_event
-- The primary key refuses a second arrival and with it the whole script. NULL in the key refuses the script
-- when the trigger's listeners are not those the caller knows.
INSERT INTO trigger_events (event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients)
SELECT CASE WHEN revision = :revision THEN :event_id ELSE NULL END,
       :trigger_id, :occurred_at, :received_at, :execution_ids, :ingredients
FROM triggers WHERE trigger_id = CAST(:trigger_id AS TEXT)

-- name: read_event
SELECT event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients
FROM trigger_events WHERE event_id = CAST(:event_id AS TEXT)
