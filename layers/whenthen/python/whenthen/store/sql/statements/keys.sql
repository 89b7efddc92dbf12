-- name: insert_user
INSERT INTO users (user_id, user_name, user_created_at) VALUES (:user_id, :user_name, :created_at)

-- name: list_users
SELECT user_id, user_name FROM users

-- name: insert_key
INSERT INTO keys (key_hash, owner_id, kind, key_name, hint, delivery_id_header, created_at, revoked_at)
VALUES (:key_hash, :owner_id, :kind, :key_name, :hint, :delivery_id_header, :created_at, NULL)

-- name: read_key
SELECT key_hash, owner_id, kind, key_name, hint, delivery_id_header, created_at, revoked_at
FROM keys WHERE key_hash = CAST(:key_hash AS TEXT)

-- name: list_keys
SELECT key_hash, owner_id, kind, key_name, hint, delivery_id_header, created_at, revoked_at
FROM keys WHERE owner_id = :owner_id AND revoked_at IS NULL ORDER BY created_at, key_hash

-- name: revoke_key
UPDATE keys SET revoked_at = CASE WHEN revoked_at IS NULL THEN :now ELSE revoked_at END
WHERE key_hash = CAST(:key_hash AS TEXT)
