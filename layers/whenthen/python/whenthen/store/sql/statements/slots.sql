-- name: create_slot_table
-- `due_at`: not to be claimed before; NULL when it can't be claimed. `wake_at`: when the sweep looks at it; NULL
-- when it is final. `claim`: the worker that holds it or held it last. `sending`: index of an action whose request
-- may have left and can't be repeated, -1 for none. `ingredients`:
-- the event's when they are short, empty when the worker has to read the event. `progress`: JSON, see
-- `store.progress`.
CREATE TABLE IF NOT EXISTS executions_{place} (
    execution_id TEXT PRIMARY KEY,
    applet_id TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    occurred_at BIGINT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued',
    due_at BIGINT,
    wake_at BIGINT,
    claim TEXT NOT NULL DEFAULT '',
    sending BIGINT NOT NULL DEFAULT -1,
    ingredients TEXT NOT NULL,
    progress TEXT NOT NULL DEFAULT '{}'
)

-- name: open_slot
INSERT INTO slots (slot, opened_at, settled_at, reopened) VALUES (:slot, :now, NULL, 0) ON CONFLICT DO NOTHING

-- name: list_slots
SELECT slot, opened_at, settled_at, reopened FROM slots ORDER BY slot DESC

-- name: settle_slot
-- Refused when a row has been opened again since the slot was read.
UPDATE slots SET reopened = CASE WHEN reopened = :reopened THEN reopened END, settled_at = :settled_at
WHERE slot = CAST(:slot AS TEXT)

-- name: reopen_slot
-- One that is closing stays so: what is open in it is moved or waited for.
UPDATE slots SET reopened = CASE WHEN reopened = -1 THEN -1 ELSE reopened + 1 END, settled_at = NULL
WHERE slot = CAST(:slot AS TEXT)

-- name: keep_slot_open
UPDATE slots SET reopened = CASE WHEN reopened >= 0 THEN reopened + 1 END, settled_at = NULL
WHERE slot = CAST(:slot AS TEXT)

-- name: close_slot
UPDATE slots SET reopened = CASE WHEN reopened = :reopened THEN -1 END, settled_at = NULL
WHERE slot = CAST(:slot AS TEXT)

-- name: open_batch
INSERT INTO slots (slot, opened_at, settled_at, reopened) VALUES (:slot, :opened_at, NULL, -1)

-- name: read_slot
SELECT slot, opened_at, settled_at, reopened FROM slots WHERE slot = CAST(:slot AS TEXT)

-- name: read_slot_end
-- How many of a slot's executions are not final.
SELECT COUNT(*) AS open_rows FROM executions_{place} WHERE wake_at IS NOT NULL
