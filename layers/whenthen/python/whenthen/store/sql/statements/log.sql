-- The history, on its own server or on the same. Columnar tables take no INSERT: COPY alone loads them, through a file
-- on the database's host (ALOPEX.md 8). It is written and read within one request, and one request is served at a time.

-- name: create_log
-- `slot` is the number yyyymmddhhmm. `service` decided how it ended, `duration` is in milliseconds, `run` counts how
-- often it had been put back. Every load is a segment, and segments of other slots are skipped.
CREATE TABLE IF NOT EXISTS execution_log_{month} (
    execution_id TEXT NOT NULL,
    slot BIGINT NOT NULL,
    owner_id TEXT NOT NULL,
    applet_id TEXT NOT NULL,
    service TEXT NOT NULL,
    trigger_service TEXT NOT NULL,
    occurred_at BIGINT NOT NULL,
    finished_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    note TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    duration BIGINT NOT NULL,
    run BIGINT NOT NULL
) WITH (storage='columnar', compression='zstd')

-- name: create_details
-- The payloads of a day, apart from the log, since they are kept for fewer days and a columnar table can only be
-- dropped. `ingredients` as in the execution, `progress` with what each attempt sent and got.
CREATE TABLE IF NOT EXISTS execution_details_{day} (
    execution_id TEXT NOT NULL,
    slot BIGINT NOT NULL,
    owner_id TEXT NOT NULL,
    ingredients TEXT NOT NULL,
    progress TEXT NOT NULL
) WITH (storage='columnar', compression='zstd')

-- name: insert_month
INSERT INTO log_months (log_month) VALUES (:month) ON CONFLICT DO NOTHING

-- name: list_months
SELECT log_month FROM log_months ORDER BY log_month DESC

-- name: insert_day
INSERT INTO detail_days (detail_day) VALUES (:day) ON CONFLICT DO NOTHING

-- name: insert_load
INSERT INTO slot_loads (load_id, loaded_rows, upto) VALUES (:load_id, 0, '') ON CONFLICT DO NOTHING

-- name: read_load
SELECT load_id, loaded_rows, upto FROM slot_loads WHERE load_id = CAST(:load_id AS TEXT)

-- name: advance_load
-- NULL in `loaded_rows` refuses the whole script, and with it a part that is in the log already.
UPDATE slot_loads SET loaded_rows = CASE WHEN loaded_rows = :seen THEN :loaded END, upto = :upto
WHERE load_id = CAST(:load_id AS TEXT)

-- name: list_part
-- Bounds are a lower one and a LIMIT: with an upper one the whole table is read (measured).
SELECT execution_id FROM executions_{place} WHERE execution_id > :after ORDER BY execution_id LIMIT :rows

-- name: group_part
-- `facts` as `store.progress` joins them.
SELECT owner_id, applet_id, SPLIT_PART(facts, :separator, 5) AS service, state, hour, COUNT(*) AS runs,
    SUM(CAST(SPLIT_PART(facts, :separator, 2) AS BIGINT)) AS attempts,
    SUM(CAST(SPLIT_PART(facts, :separator, 3) AS BIGINT)) AS duration,
    MAX(CAST(SPLIT_PART(facts, :separator, 3) AS BIGINT)) AS longest, MAX(execution_id) AS upto, SUM(size) AS size
FROM (
    SELECT execution_id, owner_id, applet_id, state, SUBSTR(execution_id, 1, 10) AS hour,
        LENGTH(progress) + LENGTH(ingredients) AS size,
        COALESCE(json_extract(progress, '$.facts'), :no_facts) AS facts
    FROM executions_{place} WHERE execution_id > :after ORDER BY execution_id LIMIT :rows
) AS part
GROUP BY owner_id, applet_id, SPLIT_PART(facts, :separator, 5), state, hour

-- name: guard_part
-- NULL in the key refuses the script when the part is not as it was when it was counted, or has one that is not final.
INSERT INTO slot_loads (load_id, loaded_rows, upto)
SELECT CASE WHEN COUNT(*) = :rows AND MAX(execution_id) = :upto AND COUNT(wake_at) = 0 THEN :load_id END, 0, ''
FROM (
    SELECT execution_id, wake_at FROM executions_{place} WHERE execution_id > :after ORDER BY execution_id LIMIT :rows
) AS part
ON CONFLICT DO NOTHING

-- name: write_facts
COPY (
    SELECT execution_id, CAST(SUBSTR(execution_id, 1, 12) AS BIGINT) AS slot, owner_id, applet_id,
        SPLIT_PART(facts, :separator, 5) AS service, SPLIT_PART(facts, :separator, 6) AS trigger_service, occurred_at,
        CAST(SPLIT_PART(facts, :separator, 1) AS BIGINT) AS finished_at, state,
        SPLIT_PART(facts, :separator, 7) AS reason, SPLIT_PART(facts, :separator, 8) AS note,
        CAST(SPLIT_PART(facts, :separator, 2) AS BIGINT) AS attempts,
        CAST(SPLIT_PART(facts, :separator, 3) AS BIGINT) AS duration, CAST(SPLIT_PART(facts, :separator, 4) AS BIGINT) AS run
    FROM (
        SELECT execution_id, owner_id, applet_id, occurred_at, state,
            COALESCE(json_extract(progress, '$.facts'), :no_facts) AS facts
        FROM executions_{place} WHERE execution_id > :after ORDER BY execution_id LIMIT :rows
    ) AS part
) TO :file WITH (FORMAT PARQUET)

-- name: take_facts
COPY execution_log_{month} FROM :file WITH (FORMAT PARQUET)

-- name: write_details
COPY (
    SELECT execution_id, CAST(SUBSTR(execution_id, 1, 12) AS BIGINT) AS slot, owner_id, ingredients, progress
    FROM executions_{place} WHERE execution_id > :after ORDER BY execution_id LIMIT :rows
) TO :file WITH (FORMAT PARQUET)

-- name: take_details
COPY execution_details_{day} FROM :file WITH (FORMAT PARQUET)

-- name: drop_copy
-- Of a part that came from another server.
DROP TABLE executions_{place}

-- name: list_log
-- A page of the log, newest slot first, in a slot as the open ones. What stands in the inner WHERE is compared with what
-- is known of each segment, so that most are not read. A constant or a function there has all of them read (measured):
-- "all" is a range, and the rest stands outside. STRPOS takes a microsecond a row, LIKE a hundred times that.
SELECT execution_id, slot, owner_id, applet_id, service, trigger_service, occurred_at, finished_at, state, reason,
    note, attempts, duration, run
FROM (
    SELECT execution_id, slot, owner_id, applet_id, service, trigger_service, occurred_at, finished_at, state, reason,
        note, attempts, duration, run
    FROM execution_log_{month}
    WHERE slot >= :from_slot AND slot <= :to_slot AND owner_id = :owner_id
      AND applet_id >= :from_applet AND applet_id <= :to_applet AND state >= :from_state AND state <= :to_state
) AS found
WHERE (slot < :before_slot OR occurred_at < :before_at OR (occurred_at = :before_at AND execution_id < :before_id))
  AND (:service = '' OR service = :service OR trigger_service = :service)
  AND (:text = '' OR STRPOS(LOWER(reason), :text) > 0 OR STRPOS(LOWER(note), :text) > 0)
ORDER BY slot DESC, occurred_at DESC, execution_id DESC, run DESC LIMIT 200

-- name: list_reruns
-- What was put back has a row a run.
SELECT execution_id, run FROM execution_log_{month}
WHERE slot >= :from_slot AND slot <= :to_slot AND owner_id = :owner_id AND run > 0

-- name: find_logged
SELECT execution_id, slot, owner_id, applet_id, service, trigger_service, occurred_at, finished_at, state, reason,
    note, attempts, duration, run
FROM execution_log_{month} WHERE slot = :slot AND execution_id = :execution_id ORDER BY run

-- name: find_details
SELECT ingredients, progress FROM execution_details_{day} WHERE slot = :slot AND execution_id = :execution_id

-- name: count_log
-- The exact numbers of one day; the dashboard reads the rollups.
SELECT applet_id, service, SUBSTR(execution_id, 9, 2) AS hour, state, COUNT(*) AS runs, SUM(attempts) AS attempts,
    SUM(duration) AS duration, MAX(duration) AS longest
FROM execution_log_{month} WHERE slot >= :from_slot AND slot <= :to_slot AND owner_id = :owner_id
GROUP BY applet_id, service, SUBSTR(execution_id, 9, 2), state
