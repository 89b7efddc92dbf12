-- name: insert_check
INSERT INTO checks (check_id, offline, host) VALUES (:check_id, :offline, :host) ON CONFLICT DO NOTHING

-- name: insert_position
INSERT INTO positions (position_id, position) VALUES (:check_id, '') ON CONFLICT DO NOTHING

-- name: list_due_checks
-- The tick: one scan a minute, oldest first, so that what did not fit is next in line. What needs the clock alone is
-- before all others: it is to be on time, and quick.
SELECT check_id, offline FROM checks WHERE next_check_at <= :now
ORDER BY offline DESC, next_check_at, check_id LIMIT 2000

-- name: claim_check
-- Not refused when another was first: the row that is read back tells whose it is.
UPDATE checks SET
    claim = CASE WHEN next_check_at <= :now THEN :claim ELSE claim END,
    next_check_at = CASE WHEN next_check_at <= :now THEN :lease_until ELSE next_check_at END
WHERE check_id = CAST(:check_id AS TEXT)

-- name: take_check
-- Due or not, and whoever is at it loses it. Not while nobody listens.
UPDATE checks SET
    claim = CASE WHEN next_check_at IS NULL THEN claim ELSE :claim END,
    next_check_at = CASE WHEN next_check_at IS NULL THEN NULL ELSE :lease_until END
WHERE check_id = CAST(:check_id AS TEXT)

-- name: release_check
-- The claim could not be passed on: due again.
UPDATE checks SET
    next_check_at = CASE WHEN claim = :claim THEN :now ELSE next_check_at END,
    claim = CASE WHEN claim = :claim THEN '' ELSE claim END
WHERE check_id = CAST(:check_id AS TEXT)

-- name: keep_check
-- NULL in `claim` refuses the script of whoever has lost it.
UPDATE checks SET claim = CASE WHEN claim = :claim THEN claim END WHERE check_id = CAST(:check_id AS TEXT)

-- name: record_check
-- The end of a check: refuses the whole script when the claim is lost, and with it all that the check has found.
UPDATE checks SET
    claim = CASE WHEN claim = :claim THEN '' END,
    next_check_at = CASE WHEN poked THEN :now ELSE :next_check_at END,
    poked = FALSE, checked_at = :now, failures = :failures, result = :result
WHERE check_id = CAST(:check_id AS TEXT)

-- name: poke_check
UPDATE checks SET
    next_check_at = CASE WHEN claim = '' AND next_check_at > :now THEN :now ELSE next_check_at END,
    poked = CASE WHEN claim = '' THEN FALSE ELSE TRUE END
WHERE check_id = CAST(:check_id AS TEXT)

-- name: start_check
-- Somebody listens from now on. Whatever check is under way has lost its claim.
UPDATE checks SET
    next_check_at = :next_check_at, claim = '', poked = FALSE,
    checked_at = :checked_at, failures = :failures, result = :result
WHERE check_id = CAST(:check_id AS TEXT)

-- name: stop_check
UPDATE checks SET next_check_at = NULL, claim = '', poked = FALSE WHERE check_id = CAST(:check_id AS TEXT)

-- name: write_position
UPDATE positions SET position = :position WHERE position_id = CAST(:check_id AS TEXT)

-- name: read_check
-- A star costs two thirds of the columns by name.
SELECT * FROM checks WHERE check_id = CAST(:check_id AS TEXT)

-- name: read_position
SELECT position_id, position FROM positions WHERE position_id = CAST(:check_id AS TEXT)

-- name: hold_host
-- A host has asked to be left alone. Rare, and the table is small.
UPDATE checks SET next_check_at = CASE WHEN next_check_at < :until THEN :until ELSE next_check_at END
WHERE host = :host
