-- Each name and value of a statement costs the server about as much as a row does, so the statements of the hot
-- path are short: what no statement compares stands in one column, `progress`. A change is a compare-and-set in
-- CASE (a WHERE on more than the key scans) without ELSE, so that its other branch is NULL, in a NOT NULL column:
-- that refuses the whole script, and the caller looks which rows it may still change.

-- name: reserve_execution
-- The other columns have their defaults.
INSERT INTO executions_{place} (execution_id, applet_id, owner_id, occurred_at, due_at, wake_at, ingredients)
VALUES (:execution_id, :applet_id, :owner_id, :occurred_at, :due_at, :wake_at, :ingredients)

-- name: reserve_executions
-- Many in one statement. Those that a check finds may come with a word in `progress`.
INSERT INTO executions_{place}
    (execution_id, applet_id, owner_id, occurred_at, due_at, wake_at, ingredients, progress)
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), :owner_id,
    CAST(json_extract(value, '$[2]') AS BIGINT), :due_at, :wake_at, json_extract(value, '$[3]'),
    json_extract(value, '$[4]')
FROM json_each(:executions)

-- name: claim_execution
UPDATE executions_{place} SET
    state = CASE WHEN due_at <= :now THEN 'running' END,
    claim = :claim, due_at = NULL, wake_at = :lease_until
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: mark_sending
-- Written before a request that can't be repeated leaves: from here on a crash means `unknown`.
UPDATE executions_{place} SET
    sending = CASE WHEN claim = :claim AND state = 'running' THEN :step END
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: record_outcome
-- `unknown` is replaced too: an answer that comes after the lease ran out is still the answer.
UPDATE executions_{place} SET
    state = CASE WHEN claim = :claim AND (state = 'running' OR state = 'unknown') THEN :state END,
    due_at = :due_at, wake_at = :wake_at, sending = -1, progress = :progress
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: wake_again
-- The sweep has sent another wake-up: look again later. Not refused when the row has changed meanwhile.
UPDATE executions_{place} SET wake_at = CASE WHEN wake_at = :seen_wake_at THEN :wake_at ELSE wake_at END
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: release_execution
-- A lease has run out. Guarded by all that the sweep has read: a worker that is late but alive may have written
-- `sending` since, and then its request is on the way.
UPDATE executions_{place} SET
    state = CASE WHEN claim = :claim AND state = 'running' AND wake_at = :seen_wake_at AND sending = :seen_sending
        THEN :state END,
    sending = -1, due_at = :due_at, wake_at = :wake_at, progress = :progress
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: requeue_execution
-- The owner asked for it, as the row was read: since then a late answer may have replaced `unknown`, or another run
-- may have begun and ended. A claim that nobody holds makes a late answer of the earlier run harmless.
UPDATE executions_{place} SET
    state = CASE WHEN wake_at IS NULL AND claim = :claim AND state = :seen_state THEN 'queued' END,
    claim = '', sending = -1, due_at = :due_at, wake_at = :wake_at, progress = :progress
WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: read_execution
-- A star costs two thirds of the columns by name.
SELECT * FROM executions_{place} WHERE execution_id = CAST(:execution_id AS TEXT)

-- name: list_due
-- The sweep: one scan of each slot that is not settled, once a minute.
SELECT execution_id, applet_id, owner_id, occurred_at, state, due_at, wake_at, claim, sending, ingredients, progress
FROM executions_{place} WHERE wake_at <= :now LIMIT 200

-- name: put_back
-- Out of the history, to run again; once at a time.
INSERT INTO executions_waiting (execution_id, applet_id, owner_id, occurred_at, due_at, wake_at, ingredients, progress)
VALUES (:execution_id, :applet_id, :owner_id, :occurred_at, :due_at, :wake_at, :ingredients, :progress)
