-- Who owns things. A key is found by its hash; the key itself is never stored.
CREATE TABLE users (
    user_id TEXT PRIMARY KEY,
    user_name TEXT NOT NULL,
    user_created_at BIGINT NOT NULL
);

CREATE TABLE keys (
    key_hash TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key_name TEXT NOT NULL,
    hint TEXT NOT NULL,
    delivery_id_header TEXT,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

-- `definition` is the applet as its owner wrote it, JSON text. `version` guards changes.
CREATE TABLE applets (
    applet_id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    trigger_id TEXT NOT NULL,
    definition TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);

-- Applets with equal triggers share a row. `listeners` is a JSON list of the ids of the applets that are on.
-- `revision` rises with every change, and intake guards it.
CREATE TABLE triggers (
    trigger_id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    service TEXT NOT NULL,
    trigger_name TEXT NOT NULL,
    fields TEXT NOT NULL,
    listeners TEXT NOT NULL,
    revision BIGINT NOT NULL
);

-- What has arrived. The key refuses a second arrival; the row is never deleted.
-- `execution_ids` is a JSON list, so that a repeat can be answered without a scan.
CREATE TABLE trigger_events (
    event_id TEXT PRIMARY KEY,
    trigger_id TEXT NOT NULL,
    occurred_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    execution_ids TEXT NOT NULL,
    ingredients TEXT NOT NULL
);

-- The tables of executions, one a slot. `settled_at` is set when every row is final: nothing is left to sweep.
-- `reopened` counts how often a final row has become open again, and guards the settling.
CREATE TABLE slots (
    slot TEXT PRIMARY KEY,
    opened_at BIGINT NOT NULL,
    settled_at BIGINT,
    reopened BIGINT NOT NULL
);

-- The owner's notifications. The key is the action's idempotency key.
CREATE TABLE inbox (
    message_id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    applet_id TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    link TEXT NOT NULL
);
