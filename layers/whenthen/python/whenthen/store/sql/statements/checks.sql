-- name: insert_check
INSERT INTO checks (check_id, offline, host) VALUES (:check_id, :offline, :host) ON CONFLICT DO NOTHING

-- name: insert_position
INSERT INTO positions (position_id, position) VALUES (:check_id, '') ON CONFLICT DO NOTHING

-- name: list_due_checks
-- The tick: two scans a minute, oldest first, so that what did not fit is next in line. `beyond` is later than any
-- check that is not offline can be due: such a one was set by a clock that was wrong.
SELECT check_id FROM checks
WHERE offline = :offline AND lease_until <= :now AND (next_check_at <= :now OR (NOT offline AND next_check_at > :beyond))
ORDER BY next_check_at, check_id LIMIT 2000

-- name: claim_check
-- Not refused when another was first: the row that is read back tells whose it is.
UPDATE checks SET
    claim = CASE WHEN lease_until <= :now AND (next_check_at <= :now OR (NOT offline AND next_check_at > :beyond))
        THEN :claim ELSE claim END,
    lease_until = CASE WHEN lease_until <= :now AND (next_check_at <= :now OR (NOT offline AND next_check_at > :beyond))
        THEN :lease_until ELSE lease_until END
WHERE check_id = CAST(:check_id AS TEXT)

-- name: take_check
-- Due or not, and whoever is at it loses it. Not while nobody listens.
UPDATE checks SET
    claim = CASE WHEN next_check_at IS NULL THEN claim ELSE :claim END,
    lease_until = CASE WHEN next_check_at IS NULL THEN lease_until ELSE :lease_until END
WHERE check_id = CAST(:check_id AS TEXT)

-- name: release_check
-- The claim could not be passed on.
UPDATE checks SET
    lease_until = CASE WHEN claim = :claim THEN 0 ELSE lease_until END,
    claim = CASE WHEN claim = :claim THEN '' ELSE claim END
WHERE check_id = CAST(:check_id AS TEXT)

-- name: keep_check
-- NULL in `claim` refuses the script of whoever has lost it.
UPDATE checks SET claim = CASE WHEN claim = :claim THEN claim END WHERE check_id = CAST(:check_id AS TEXT)

-- name: record_check
-- The end of a check: refuses the whole script when the claim is lost, and with it all that the check has found.
UPDATE checks SET
    claim = CASE WHEN claim = :claim THEN '' END,
    next_check_at = CASE WHEN poked AND held_until <= :now THEN :now
        WHEN held_until > :next_check_at THEN held_until ELSE :next_check_at END,
    lease_until = 0, poked = FALSE, checked_at = :now, failures = :failures, result = :result
WHERE check_id = CAST(:check_id AS TEXT)

-- name: poke_check
UPDATE checks SET
    next_check_at = CASE WHEN claim = '' AND held_until <= :now AND next_check_at > :now
        THEN :now ELSE next_check_at END,
    poked = CASE WHEN claim = '' THEN FALSE ELSE TRUE END
WHERE check_id = CAST(:check_id AS TEXT)

-- name: start_check
-- Somebody listens from now on. Whatever check is under way has lost its claim.
UPDATE checks SET
    next_check_at = :next_check_at, claim = '', lease_until = 0, poked = FALSE,
    checked_at = :checked_at, failures = :failures, result = :result
WHERE check_id = CAST(:check_id AS TEXT)

-- name: stop_check
UPDATE checks SET next_check_at = NULL, claim = '', lease_until = 0, poked = FALSE
WHERE check_id = CAST(:check_id AS TEXT)

-- name: write_position
UPDATE positions SET position = :position WHERE position_id = CAST(:check_id AS TEXT)

-- name: read_check
-- A star costs two thirds of the columns by name.
SELECT * FROM checks WHERE check_id = CAST(:check_id AS TEXT)

-- name: read_position
SELECT position_id, position FROM positions WHERE position_id = CAST(:check_id AS TEXT)

-- name: list_troubled
-- For the dashboard: those that are late or failing, of all owners, while somebody listens.
SELECT * FROM checks WHERE next_check_at <= :late_since OR (failures > 0 AND next_check_at > :late_since)

-- name: hold_host
-- A host has asked to be left alone. Rare, and the table is small. Also checks that are under way end with it.
UPDATE checks SET
    held_until = CASE WHEN held_until < :until THEN :until ELSE held_until END,
    next_check_at = CASE WHEN next_check_at < :until THEN :until ELSE next_check_at END
WHERE host = :host
