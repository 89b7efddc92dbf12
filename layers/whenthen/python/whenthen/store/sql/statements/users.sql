-- name: insert_first_user
INSERT INTO first_users (first_user, made_at) VALUES ('first', :now)

-- name: note_first_user
INSERT INTO first_users (first_user, made_at) VALUES ('first', :now) ON CONFLICT DO NOTHING

-- name: read_first_user
SELECT made_at FROM first_users WHERE first_user = CAST('first' AS TEXT)

-- name: insert_console_user
INSERT INTO console_users (user_key, owner_id, shown_name, is_admin, password, session_key, invited_hash, invited_until,
    disabled_at, user_version, created_at)
VALUES (:user_key, :owner_id, :shown_name, :is_admin, :password, :session_key, :invited_hash, :invited_until,
    :disabled_at, 1, :created_at)

-- name: read_console_user
SELECT * FROM console_users WHERE user_key = CAST(:user_key AS TEXT)

-- name: list_console_users
SELECT * FROM console_users ORDER BY created_at, user_key

-- name: update_console_user
-- NULL in `user_version` refuses the whole script when the user has changed since they were read.
UPDATE console_users SET
    user_version = CASE WHEN user_version = :version THEN user_version + 1 END,
    owner_id = :owner_id, shown_name = :shown_name, is_admin = :is_admin, password = :password,
    session_key = :session_key, invited_hash = :invited_hash, invited_until = :invited_until,
    disabled_at = :disabled_at
WHERE user_key = CAST(:user_key AS TEXT)

-- name: insert_tries
INSERT INTO sign_in_tries (tries_key) VALUES (:tries_key) ON CONFLICT DO NOTHING

-- name: read_tries
SELECT * FROM sign_in_tries WHERE tries_key = CAST(:tries_key AS TEXT)

-- name: count_try
-- NULL refuses the script when another try was counted since the row was read: none goes on uncounted.
UPDATE sign_in_tries SET
    tries_revision = CASE WHEN tries_revision = :revision THEN tries_revision + 1 END,
    tried_at = :now, eases_at = :eases_at
WHERE tries_key = CAST(:tries_key AS TEXT)

-- name: ease_tries
-- The revision rises, so that a try that is counted at this moment does not put back what was taken off.
UPDATE sign_in_tries SET tries_revision = tries_revision + 1, eases_at = eases_at - :eased
WHERE tries_key = CAST(:tries_key AS TEXT)

-- name: forget_tries
UPDATE sign_in_tries SET tries_revision = tries_revision + 1, eases_at = 0 WHERE tries_key = CAST(:tries_key AS TEXT)
