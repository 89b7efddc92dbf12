-- name: reserve_event
-- The primary key refuses a second arrival and with it the whole script.
INSERT INTO trigger_events (event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients)
VALUES (:event_id, :trigger_id, :occurred_at, :received_at, :execution_ids, :ingredients)

-- name: read_event
SELECT event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients
FROM trigger_events WHERE event_id = CAST(:event_id AS TEXT)

-- name: reserve_events
-- Many in one statement; one that is there already refuses the whole script.
INSERT INTO trigger_events (event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients)
SELECT json_extract(value, '$[0]'), :trigger_id, CAST(json_extract(value, '$[1]') AS BIGINT), :received_at,
    json_extract(value, '$[2]'), json_extract(value, '$[3]')
FROM json_each(:events)

-- name: remember_events
-- Seen, and nothing more: those that are there already stay as they are.
INSERT INTO trigger_events (event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients)
SELECT json_extract(value, '$[0]'), :trigger_id, CAST(json_extract(value, '$[1]') AS BIGINT), :received_at, '[]', '{}'
FROM json_each(:events)
ON CONFLICT DO NOTHING

-- name: find_thousandth_event
SELECT event_id FROM trigger_events ORDER BY event_id LIMIT 1 OFFSET 999

-- name: count_events
SELECT COUNT(*) AS events FROM trigger_events
