-- name: insert_connection
INSERT INTO connections (connection_id, owner_id, service, connection_name, account_name, shown, sealed, state,
    failing_since, message, version, created_at, updated_at, deleted_at)
VALUES (:connection_id, :owner_id, :service, :connection_name, :account_name, :shown, :sealed, :state,
    :failing_since, :message, 1, :now, :now, NULL)

-- name: read_connection
SELECT * FROM connections WHERE connection_id = CAST(:connection_id AS TEXT)

-- name: list_connections
SELECT * FROM connections WHERE owner_id = :owner_id AND deleted_at IS NULL ORDER BY created_at DESC, connection_id DESC

-- name: count_sealed
SELECT COUNT(*) AS sealed_rows FROM connections WHERE sealed <> ''

-- name: update_connection
-- NULL in `version` refuses the whole script when the connection has changed since it was read. The claim stays: whoever
-- gets new tokens meanwhile is still the only one.
UPDATE connections SET
    version = CASE WHEN version = :version AND deleted_at IS NULL THEN version + 1 END,
    connection_name = :connection_name, account_name = :account_name, shown = :shown, sealed = :sealed,
    state = :state, failing_since = :failing_since, message = :message,
    updated_at = :now, deleted_at = :deleted_at
WHERE connection_id = CAST(:connection_id AS TEXT)

-- name: claim_connection
-- Not refused when another was first: the row that is read back tells whose it is.
UPDATE connections SET
    claim = CASE WHEN version = :version AND lease_until <= :now THEN :claim ELSE claim END,
    lease_until = CASE WHEN version = :version AND lease_until <= :now THEN :lease_until ELSE lease_until END
WHERE connection_id = CAST(:connection_id AS TEXT)

-- name: release_connection
UPDATE connections SET
    lease_until = CASE WHEN claim = :claim THEN 0 ELSE lease_until END,
    claim = CASE WHEN claim = :claim THEN '' ELSE claim END
WHERE connection_id = CAST(:connection_id AS TEXT)

-- name: mark_failing
-- Only what was known to work, or to fail, of the same version.
UPDATE connections SET
    failing_since = CASE WHEN version = :version AND state = 'working' THEN :now ELSE failing_since END,
    message = CASE WHEN version = :version AND (state = 'working' OR state = 'failing') THEN :message ELSE message END,
    state = CASE WHEN version = :version AND state = 'working' THEN 'failing' ELSE state END
WHERE connection_id = CAST(:connection_id AS TEXT)

-- name: mark_working
UPDATE connections SET
    failing_since = CASE WHEN version = :version AND state = 'failing' THEN NULL ELSE failing_since END,
    message = CASE WHEN version = :version AND state = 'failing' THEN '' ELSE message END,
    state = CASE WHEN version = :version AND state = 'failing' THEN 'working' ELSE state END
WHERE connection_id = CAST(:connection_id AS TEXT)
