-- Waiting for a test call. By key: an arrival that nobody listens to looks here.

-- name: insert_test_call
-- Not waiting yet: what follows in its script begins.
INSERT INTO test_calls (awaited_trigger_id, owner_id, asked_at, waits_until, arrived_at, arrived)
VALUES (:trigger_id, :owner_id, :now, 0, 0, '') ON CONFLICT DO NOTHING

-- name: wait_for_call
-- A waiting that is over begins anew. Every CASE sees the row as it was.
UPDATE test_calls SET
    asked_at = CASE WHEN waits_until > :now THEN asked_at ELSE :now END,
    arrived_at = CASE WHEN waits_until > :now THEN arrived_at ELSE 0 END,
    arrived = CASE WHEN waits_until > :now THEN arrived ELSE '' END,
    waits_until = :waits_until
WHERE awaited_trigger_id = CAST(:trigger_id AS TEXT)

-- name: read_test_call
SELECT awaited_trigger_id, owner_id, asked_at, waits_until, arrived_at, arrived
FROM test_calls WHERE awaited_trigger_id = CAST(:trigger_id AS TEXT)

-- name: write_arrived
-- Only while somebody waits.
UPDATE test_calls SET
    arrived_at = CASE WHEN waits_until > :now THEN :arrived_at ELSE arrived_at END,
    arrived = CASE WHEN waits_until > :now THEN :arrived ELSE arrived END
WHERE awaited_trigger_id = CAST(:trigger_id AS TEXT)

-- name: find_newest_execution
-- While somebody waits for a call of a trigger that an applet has already: one slot at a time.
SELECT execution_id, occurred_at, ingredients FROM executions_{place}
WHERE applet_id = :applet_id AND occurred_at >= :since
ORDER BY occurred_at DESC, execution_id DESC LIMIT 1

-- name: count_over
SELECT COUNT(*) AS calls FROM test_calls WHERE waits_until <= :now

-- name: delete_over
DELETE FROM test_calls WHERE waits_until <= :now

-- name: count_awaited
SELECT COUNT(*) AS calls FROM test_calls WHERE owner_id = :owner_id

-- name: delete_awaited
DELETE FROM test_calls WHERE owner_id = :owner_id
