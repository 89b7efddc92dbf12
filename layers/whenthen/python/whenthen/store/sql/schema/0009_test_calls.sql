-- Who waits for a test call of a trigger that nobody listens to yet. `asked_at` is when the waiting began and `waits_until`
-- when it ends. `arrived` is what came last, JSON, and `arrived_at` when; empty and 0 before. It all goes when it is over.
CREATE TABLE test_calls (
    awaited_trigger_id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    waits_until BIGINT NOT NULL,
    arrived_at BIGINT NOT NULL,
    arrived TEXT NOT NULL
);
