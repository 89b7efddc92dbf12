-- name: insert_deletions
INSERT INTO deletions (deleted_from, deleted_rows) VALUES (:table, 0) ON CONFLICT DO NOTHING

-- name: add_deletions
UPDATE deletions SET deleted_rows = deleted_rows + :rows WHERE deleted_from = CAST(:table AS TEXT)

-- name: sum_deletions
SELECT SUM(deleted_rows) AS dead_rows FROM deletions
