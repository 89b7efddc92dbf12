-- Erasing rows of columnar tables, which take no DELETE: those of others are copied aside and the table is dropped in one
-- request, and they are copied back in another. The bytes stay in the database's files until it is rebuilt.

-- name: list_days
SELECT detail_day FROM detail_days ORDER BY detail_day

-- name: delete_day
DELETE FROM detail_days WHERE detail_day = CAST(:day AS TEXT)

-- name: count_owners
SELECT owner_id, COUNT(*) AS rows_of_owner FROM execution_details_{day} GROUP BY owner_id

-- name: list_owned
SELECT execution_id FROM execution_details_{day} WHERE owner_id = :owner_id AND execution_id > :after
ORDER BY execution_id LIMIT 500

-- name: write_other_details
COPY (SELECT * FROM execution_details_{day} WHERE owner_id <> :owner_id) TO :file WITH (FORMAT PARQUET)

-- name: write_all_details
COPY (SELECT * FROM execution_details_{day}) TO :file WITH (FORMAT PARQUET)

-- name: guard_empty_day
-- NULL in the key refuses the script.
INSERT INTO detail_days (detail_day)
SELECT CASE WHEN COUNT(*) = 0 THEN :day END FROM execution_details_{day} ON CONFLICT DO NOTHING

-- name: drop_details
DROP TABLE execution_details_{day}

-- name: write_other_facts
COPY (SELECT * FROM execution_log_{month} WHERE owner_id <> :owner_id) TO :file WITH (FORMAT PARQUET)

-- name: write_all_facts
COPY (SELECT * FROM execution_log_{month}) TO :file WITH (FORMAT PARQUET)

-- name: drop_facts
DROP TABLE execution_log_{month}

-- name: write_nothing
-- Over what the last of these has left in the file.
COPY (SELECT load_id FROM slot_loads WHERE load_id = CAST('' AS TEXT)) TO :file WITH (FORMAT PARQUET)

-- name: blank_event
UPDATE trigger_events SET ingredients = '{}' WHERE event_id = CAST(:event_id AS TEXT)

-- name: list_waiting_events
-- Those that still run need their event.
SELECT execution_id FROM executions_waiting WHERE owner_id = :owner_id

-- name: request_erasure
INSERT INTO erasures (erased_owner_id, requested_at, erased_at) VALUES (:owner_id, :now, NULL) ON CONFLICT DO NOTHING

-- name: renew_erasure
UPDATE erasures SET requested_at = :now, erased_at = NULL WHERE erased_owner_id = CAST(:owner_id AS TEXT)

-- name: list_erasures
SELECT erased_owner_id, requested_at, erased_at FROM erasures

-- name: finish_erasure
UPDATE erasures SET erased_at = :now WHERE erased_owner_id = CAST(:owner_id AS TEXT)

-- name: blank_user
UPDATE users SET user_name = '' WHERE user_id = CAST(:owner_id AS TEXT)

-- name: blank_profile
UPDATE profiles SET zone = 'UTC' WHERE profile_id = CAST(:owner_id AS TEXT)

-- name: blank_key
UPDATE keys SET key_name = '', hint = '', delivery_id_header = NULL WHERE key_hash = CAST(:key_hash AS TEXT)

-- name: list_owned_keys
SELECT key_hash FROM keys WHERE owner_id = :owner_id

-- name: list_owned_applets
SELECT applet_id FROM applets WHERE owner_id = :owner_id

-- name: blank_applet
UPDATE applets SET definition = :definition, version = version + 1 WHERE applet_id = CAST(:applet_id AS TEXT)

-- name: list_owned_connections
SELECT connection_id FROM connections WHERE owner_id = :owner_id

-- name: blank_connection
-- Whoever gets new tokens for it now is refused by the new version.
UPDATE connections SET connection_name = '', account_name = '', shown = '{}', sealed = '', message = '',
    version = version + 1, deleted_at = CASE WHEN deleted_at IS NULL THEN :now ELSE deleted_at END
WHERE connection_id = CAST(:connection_id AS TEXT)

-- name: list_owned_users
SELECT user_key FROM console_users WHERE owner_id = :owner_id

-- name: blank_console_user
-- An invitation that is accepted now is refused by the new version.
UPDATE console_users SET owner_id = '', shown_name = '', is_admin = FALSE, password = '', session_key = '',
    invited_hash = '', invited_until = 0, disabled_at = NULL, user_version = user_version + 1
WHERE user_key = CAST(:user_key AS TEXT)

-- name: list_owned_triggers
SELECT trigger_id FROM triggers WHERE owner_id = :owner_id

-- name: blank_trigger
-- The row stays, as every trigger's does. Its id is a hash.
UPDATE triggers SET fields = '{}', listeners = '[]', revision = revision + 1 WHERE trigger_id = CAST(:trigger_id AS TEXT)

-- name: blank_position
UPDATE positions SET position = '' WHERE position_id = CAST(:trigger_id AS TEXT)

-- name: delete_inbox
DELETE FROM inbox WHERE owner_id = :owner_id

-- name: count_inbox
SELECT COUNT(*) AS messages FROM inbox WHERE owner_id = :owner_id

-- name: count_owned
SELECT COUNT(*) AS owned FROM executions_{place} WHERE owner_id = :owner_id
