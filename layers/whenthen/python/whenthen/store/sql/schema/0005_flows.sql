-- How an applet's executions go. For its cool-down: when the last one ran (`ran_at`) and which it was. `failures` counts
-- those since the applet was turned on, and `reviewed` how many of them have been looked at.
CREATE TABLE applet_runs (
    ran_applet_id TEXT PRIMARY KEY,
    ran_at BIGINT NOT NULL DEFAULT 0,
    ran_execution TEXT NOT NULL DEFAULT '',
    failures BIGINT NOT NULL DEFAULT 0,
    reviewed BIGINT NOT NULL DEFAULT 0
);

-- Hosts, with port, that want to be left alone: no action calls them before that instant.
CREATE TABLE targets (
    target TEXT PRIMARY KEY,
    left_alone_until BIGINT NOT NULL
);
