-- Phones and where they were last. All by key: an owner's are read by each check of a place, once a minute.

-- name: read_phone_list
SELECT devices, list_revision FROM phone_lists WHERE listed_owner_id = CAST(:owner_id AS TEXT)

-- name: insert_phone_list
INSERT INTO phone_lists (listed_owner_id, devices, list_revision) VALUES (:owner_id, '[]', 0) ON CONFLICT DO NOTHING

-- name: write_phone_list
-- NULL refuses the script when another phone was added since the list was read.
UPDATE phone_lists SET
    list_revision = CASE WHEN list_revision = :revision THEN list_revision + 1 END, devices = :devices
WHERE listed_owner_id = CAST(:owner_id AS TEXT)

-- name: read_phone
SELECT device, fixes, last_fix FROM phones WHERE phone_id = CAST(:phone_id AS TEXT)

-- name: insert_phone
INSERT INTO phones (phone_id, device, fixes, last_fix) VALUES (:phone_id, '', '[]', 0) ON CONFLICT DO NOTHING

-- name: write_phone
-- NULL refuses the script when another fix has come since the phone was read.
UPDATE phones SET
    last_fix = CASE WHEN last_fix = :seen THEN last_fix + 1 END, device = :device, fixes = :fixes
WHERE phone_id = CAST(:phone_id AS TEXT)

-- name: blank_phone
UPDATE phones SET device = '', fixes = '[]' WHERE phone_id = CAST(:phone_id AS TEXT)
