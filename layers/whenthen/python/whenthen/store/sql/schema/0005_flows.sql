-- How an applet's executions go. For its cool-down: when the last one ran (`ran_at`) and which it was. `failures` counts
-- those since the applet was turned on, and `reviewed` how many of them have been looked at.
CREATE TABLE applet_runs (
    ran_applet_id TEXT PRIMARY KEY,
    ran_at BIGINT NOT NULL DEFAULT 0,
    ran_execution TEXT NOT NULL DEFAULT '',
    failures BIGINT NOT NULL DEFAULT 0,
    reviewed BIGINT NOT NULL DEFAULT 0
);

-- Hosts that want to be left alone by an owner: none of the owner's actions calls them before that instant. The key is
-- made of owner, host and port.
CREATE TABLE targets (
    target TEXT PRIMARY KEY,
    left_alone_until BIGINT NOT NULL
);
