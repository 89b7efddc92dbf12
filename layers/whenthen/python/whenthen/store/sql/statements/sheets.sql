-- Tables of owners, see 0006_tables.sql. Rows are found by their numbers: a page, the newest, those after a check's
-- position. Only an export and a look-up walk through all rows of a sheet.

-- name: read_sheet
SELECT sheet_id, owner_id, sheet_name, column_names, emptied_to, last_row, sheet_bytes, created_at
FROM sheets WHERE sheet_id = CAST(:sheet_id AS TEXT)

-- name: list_sheets
SELECT sheet_id, owner_id, sheet_name, column_names, emptied_to, last_row, sheet_bytes, created_at
FROM sheets WHERE owner_id = :owner_id ORDER BY sheet_name

-- name: insert_sheet
INSERT INTO sheets (sheet_id, owner_id, sheet_name, column_names, emptied_to, last_row, sheet_bytes, created_at)
VALUES (:sheet_id, :owner_id, :sheet_name, '[]', 0, 0, 0, :now)
ON CONFLICT DO NOTHING

-- name: insert_row
-- The first statement of its script: a row that comes again is refused as such, whatever has become of the sheet.
INSERT INTO sheet_rows (row_id, row_key, added_at, row_values) VALUES (:row_id, :row_key, :added_at, :row_values)

-- name: grow_sheet
-- NULL refuses the script when a row has come, or all have gone, since the sheet was read.
UPDATE sheets SET
    last_row = CASE WHEN last_row = :last_row AND emptied_to = :emptied_to THEN last_row + 1 END,
    sheet_name = :sheet_name, column_names = :column_names, sheet_bytes = :sheet_bytes
WHERE sheet_id = CAST(:sheet_id AS TEXT)

-- name: read_row
SELECT row_id, added_at, row_values FROM sheet_rows WHERE row_id = CAST(:row_id AS TEXT)

-- name: walk_rows
-- A lower bound and a LIMIT: the server walks the key and reads the rows of the sheet alone.
SELECT row_id, added_at, row_values FROM sheet_rows
WHERE row_id > CAST(:after AS TEXT) ORDER BY row_id LIMIT :rows

-- name: find_row
-- Only when a row comes again. The literal is bare, since the key is not the primary one.
SELECT row_id, added_at, row_values FROM sheet_rows WHERE row_key = :row_key

-- name: blank_row
UPDATE sheet_rows SET row_values = '' WHERE row_id = CAST(:row_id AS TEXT)

-- name: empty_sheet
-- NULL refuses it when a row has come since the others were blanked.
UPDATE sheets SET
    emptied_to = CASE WHEN last_row = :last_row THEN last_row END,
    sheet_name = '', column_names = '[]', sheet_bytes = 0
WHERE sheet_id = CAST(:sheet_id AS TEXT)
