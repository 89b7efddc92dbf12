-- How the checking of a trigger stands; `check_id` is the trigger's id. Small rows, since each check writes one twice.
-- `offline`: needs the clock alone. `host`: the host that it asks, and `held_until` when that wants to be asked again.
-- `next_check_at`: when it is due; NULL while nobody listens. `claim`: who checks it now, or empty, and `lease_until`
-- when that runs out. `poked`: somebody asked for a check while one was under way.
-- `failures`: how often in a row it has failed. `result`: words for the owner.
CREATE TABLE checks (
    check_id TEXT PRIMARY KEY,
    offline BOOLEAN NOT NULL,
    host TEXT NOT NULL,
    next_check_at BIGINT,
    claim TEXT NOT NULL DEFAULT '',
    lease_until BIGINT NOT NULL DEFAULT 0,
    held_until BIGINT NOT NULL DEFAULT 0,
    poked BOOLEAN NOT NULL DEFAULT FALSE,
    checked_at BIGINT,
    failures BIGINT NOT NULL DEFAULT 0,
    result TEXT NOT NULL DEFAULT ''
);

-- What a check leaves for the next one, JSON text; empty before the first. Written only when it changes.
CREATE TABLE positions (
    position_id TEXT PRIMARY KEY,
    position TEXT NOT NULL
);

-- What an owner has set. `zone` is an IANA time zone.
CREATE TABLE profiles (
    profile_id TEXT PRIMARY KEY,
    zone TEXT NOT NULL
);
