-- name: create_slot_table
-- `sending` is the index of an action whose request may have left and can't be repeated, -1 for none.
-- `due_at`: not to be run before. `wake_at`: when the sweep looks at it; NULL when it is final.
CREATE TABLE IF NOT EXISTS executions_{slot} (
    execution_id TEXT PRIMARY KEY,
    event_id TEXT NOT NULL,
    applet_id TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    occurred_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    wake_at BIGINT,
    claim TEXT NOT NULL,
    step BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    sending BIGINT NOT NULL,
    attempts TEXT NOT NULL,
    finished_at BIGINT
)

-- name: open_slot
INSERT INTO slots (slot, opened_at, settled_at) VALUES (:slot, :now, NULL) ON CONFLICT DO NOTHING

-- name: list_slots
SELECT slot, opened_at, settled_at FROM slots ORDER BY slot DESC

-- name: set_slot_settled
UPDATE slots SET settled_at = :settled_at WHERE slot = CAST(:slot AS TEXT)

-- name: read_slot_end
-- How many of a slot's executions are not final.
SELECT COUNT(*) AS open_rows FROM executions_{slot} WHERE finished_at IS NULL
