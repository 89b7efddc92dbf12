-- name: insert_trigger
-- Without a target, the only form of ON CONFLICT that does not scan.
INSERT INTO triggers (trigger_id, owner_id, service, trigger_name, fields, listeners, revision)
VALUES (:trigger_id, :owner_id, :service, :trigger_name, :fields, '[]', 0)
ON CONFLICT DO NOTHING

-- name: set_listeners
-- NULL in `revision` refuses the whole script when the trigger has changed since it was read.
UPDATE triggers SET
    revision = CASE WHEN revision = :revision THEN revision + 1 END,
    listeners = :listeners
WHERE trigger_id = CAST(:trigger_id AS TEXT)

-- name: touch_trigger
-- Makes every process that has cached the trigger read it again.
UPDATE triggers SET revision = revision + 1 WHERE trigger_id = CAST(:trigger_id AS TEXT)

-- name: guard_trigger
-- The last statement of a reservation: divides by zero, which refuses the whole script, when the listeners are not
-- those the caller knows. A select of a key costs a third of the same guard in an INSERT … SELECT.
SELECT 1 / CASE WHEN revision = :revision THEN 1 ELSE 0 END AS unchanged
FROM triggers WHERE trigger_id = CAST(:trigger_id AS TEXT)

-- name: read_trigger
SELECT trigger_id, owner_id, service, trigger_name, fields, listeners, revision
FROM triggers WHERE trigger_id = CAST(:trigger_id AS TEXT)

-- name: list_triggers
SELECT trigger_id, owner_id, service, trigger_name, fields, listeners, revision
FROM triggers WHERE owner_id = :owner_id
