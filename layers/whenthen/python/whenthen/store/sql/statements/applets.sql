-- name: insert_applet
INSERT INTO applets (applet_id, owner_id, trigger_id, definition, enabled, version, created_at, updated_at, deleted_at)
VALUES (:applet_id, :owner_id, :trigger_id, :definition, :enabled, 1, :now, :now, NULL)

-- name: update_applet
-- NULL in `version` refuses the whole script when the applet has changed since it was read.
UPDATE applets SET
    version = CASE WHEN version = :version AND deleted_at IS NULL THEN version + 1 END,
    trigger_id = :trigger_id, definition = :definition, enabled = :enabled,
    updated_at = :now, deleted_at = :deleted_at
WHERE applet_id = CAST(:applet_id AS TEXT)

-- name: restore_applet
-- As `update_applet`, of one that is deleted.
UPDATE applets SET
    version = CASE WHEN version = :version AND deleted_at IS NOT NULL THEN version + 1 END,
    enabled = :enabled, updated_at = :now, deleted_at = NULL
WHERE applet_id = CAST(:applet_id AS TEXT)

-- name: insert_applets
-- Many in one statement, all of them off.
INSERT INTO applets (applet_id, owner_id, trigger_id, definition, enabled, version, created_at, updated_at, deleted_at)
SELECT json_extract(value, '$[0]'), :owner_id, json_extract(value, '$[1]'), json_extract(value, '$[2]'), FALSE, 1,
    CAST(json_extract(value, '$[3]') AS BIGINT), CAST(json_extract(value, '$[3]') AS BIGINT), NULL
FROM json_each(:applets)

-- name: read_applet
-- Names count in a statement: with those of the columns, fewer of it fit into one request than a union takes.
SELECT * FROM applets WHERE applet_id = CAST(:applet_id AS TEXT)

-- name: list_applets
SELECT applet_id, owner_id, trigger_id, definition, enabled, version, created_at, updated_at, deleted_at
FROM applets WHERE owner_id = :owner_id AND deleted_at IS NULL ORDER BY created_at DESC, applet_id DESC
