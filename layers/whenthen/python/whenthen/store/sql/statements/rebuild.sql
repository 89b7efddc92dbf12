-- How far a rebuild has come, on the database that it fills.

-- name: create_copies
-- One row a table. Rows of it up to the key `copied_to` are copied; `source_id` tells from where.
CREATE TABLE IF NOT EXISTS rebuild_copies (
    copied_table TEXT PRIMARY KEY,
    source_id TEXT NOT NULL,
    copied_to TEXT NOT NULL,
    copied_rows BIGINT NOT NULL,
    complete BOOLEAN NOT NULL
)

-- name: insert_copies
INSERT INTO rebuild_copies (copied_table, source_id, copied_to, copied_rows, complete)
SELECT json_extract(value, '$[0]'), :source_id, '', 0, FALSE FROM json_each(:names)

-- name: list_copies
SELECT copied_table, source_id, copied_to, copied_rows, complete FROM rebuild_copies ORDER BY copied_table

-- name: advance_copy
-- Stands in one script with the rows. NULL refuses both when they are there already.
UPDATE rebuild_copies SET
    copied_to = CASE WHEN copied_to = :after THEN :edge END, copied_rows = copied_rows + :added
WHERE copied_table = CAST(:copied_table AS TEXT)

-- name: complete_copy
UPDATE rebuild_copies SET complete = TRUE WHERE copied_table = CAST(:copied_table AS TEXT)
