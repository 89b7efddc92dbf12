-- What the closer does to tables of executions. It reads and deletes whole tables, but those of slots are dropped before
-- they grow beyond some thousands of rows, and `executions_waiting` holds what waits.

-- name: count_rows
SELECT COUNT(*) AS all_rows FROM executions_{place}

-- name: move_waiting
-- Those that a worker holds stay until it has let them go.
INSERT INTO executions_waiting SELECT * FROM executions_{place} WHERE wake_at IS NOT NULL AND state <> 'running'

-- name: delete_moved
DELETE FROM executions_{place} WHERE wake_at IS NOT NULL AND state <> 'running'

-- name: count_states
SELECT state, COUNT(*) AS rows_in_state FROM executions_{place} GROUP BY state

-- name: count_unanswered
-- `unknown`, and so new that the answer may still come.
SELECT COUNT(*) AS unanswered FROM executions_{place}
WHERE state = 'unknown' AND CAST(json_extract(progress, '$.finished_at') AS BIGINT) > :answered_until

-- name: count_done
SELECT COUNT(*) AS done FROM executions_waiting WHERE wake_at IS NULL
    AND (state <> 'unknown' OR CAST(json_extract(progress, '$.finished_at') AS BIGINT) <= :answered_until)

-- name: move_done
INSERT INTO executions_{place} SELECT * FROM executions_waiting WHERE wake_at IS NULL
    AND (state <> 'unknown' OR CAST(json_extract(progress, '$.finished_at') AS BIGINT) <= :answered_until)

-- name: delete_done
DELETE FROM executions_waiting WHERE wake_at IS NULL
    AND (state <> 'unknown' OR CAST(json_extract(progress, '$.finished_at') AS BIGINT) <= :answered_until)

-- name: read_rows
-- For a history on another server.
SELECT * FROM executions_{place} WHERE execution_id > :after ORDER BY execution_id LIMIT 100

-- name: write_rows
-- The same rows may come again.
INSERT INTO executions_{place}
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
    CAST(json_extract(value, '$[3]') AS BIGINT), json_extract(value, '$[4]'), NULL, NULL,
    json_extract(value, '$[5]'), -1, json_extract(value, '$[6]'), json_extract(value, '$[7]')
FROM json_each(:rows)
ON CONFLICT DO NOTHING

-- name: find_chunk_end
SELECT execution_id FROM executions_{place} ORDER BY execution_id LIMIT 1 OFFSET 3999

-- name: delete_chunk
DELETE FROM executions_{place} WHERE execution_id <= :upto

-- name: guard_rows
-- NULL in the key refuses the script when the table does not have so many rows.
INSERT INTO deletions (deleted_from, deleted_rows)
SELECT CASE WHEN COUNT(*) = :rows THEN 'slots' END, 0 FROM executions_{place} ON CONFLICT DO NOTHING

-- name: drop_table
DROP TABLE executions_{place}

-- name: delete_slot
-- The table holds the few slots that are open.
DELETE FROM slots WHERE slot = CAST(:slot AS TEXT)
