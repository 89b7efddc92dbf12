-- name: open_digest
-- The key refuses a second one, and with it the whole script.
INSERT INTO digests (digest_id, owner_id, sending_id, due_at, digest_state, collected, contents)
VALUES (:digest_id, :owner_id, :sending_id, :due_at, 'collecting', 0, :contents)

-- name: add_entry
-- Numbered by the database, so that entries that come together do not get into each other's way. Without its digest there
-- is no row.
INSERT INTO digest_entries (entry_id, entry_key, entry)
SELECT digest_id || '.' || CAST(collected + 1 AS TEXT), :entry_key, :entry
FROM digests WHERE digest_id = CAST(:digest_id AS TEXT)

-- name: count_entry
-- Refused when the digest is closed.
UPDATE digests SET collected = CASE WHEN digest_state = 'collecting' THEN collected + 1 END
WHERE digest_id = CAST(:digest_id AS TEXT)

-- name: close_digest
UPDATE digests SET digest_state = 'closed' WHERE digest_id = CAST(:digest_id AS TEXT)

-- name: read_digest
SELECT digest_id, owner_id, sending_id, due_at, digest_state, collected, contents
FROM digests WHERE digest_id = CAST(:digest_id AS TEXT)

-- name: read_entry
SELECT entry_id, entry FROM digest_entries WHERE entry_id = CAST(:entry_id AS TEXT)

-- name: blank_digest
UPDATE digests SET digest_state = 'closed', contents = '' WHERE digest_id = CAST(:digest_id AS TEXT)

-- name: blank_entry
UPDATE digest_entries SET entry = '' WHERE entry_id = CAST(:entry_id AS TEXT)

-- name: list_owned_digests
SELECT digest_id, owner_id, sending_id, due_at, digest_state, collected, contents FROM digests WHERE owner_id = :owner_id

-- name: bring_forward
-- One that is claimed has no `due_at` and stays as it is.
UPDATE executions_{place} SET due_at = CASE WHEN due_at > :now THEN :now ELSE due_at END,
    wake_at = CASE WHEN wake_at > :now THEN :now ELSE wake_at END
WHERE execution_id = CAST(:execution_id AS TEXT)
