-- Executions that outlive their slot's table: they wait for another try, or were put back from the history to run
-- again. The columns are those of a slot's table, `executions_<slot>`.
CREATE TABLE executions_waiting (
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
);

-- What follows is used on the history server, which may be this one or another.

-- The months that have a log, `execution_log_<yyyymm>`, and rollups, `daily_stats_<yyyymm>`.
CREATE TABLE log_months (
    log_month TEXT PRIMARY KEY
);

-- How much of a table of executions is in the log: `loaded_rows` up to the id `upto`, or all of it, see
-- `store.loads`. `load_id` is its slot and when that was opened: a table that is made again counts anew.
CREATE TABLE slot_loads (
    load_id TEXT PRIMARY KEY,
    loaded_rows BIGINT NOT NULL,
    upto TEXT NOT NULL
);

-- The days that have payloads, `execution_details_<yyyymmdd>`.
CREATE TABLE detail_days (
    detail_day TEXT PRIMARY KEY
);

-- For how many days an owner's payloads are kept; the default holds where there is no row.
CREATE TABLE retentions (
    retention_id TEXT PRIMARY KEY,
    payload_days BIGINT NOT NULL
);

-- Owners whose data is to be erased, and when it was.
CREATE TABLE erasures (
    erased_owner_id TEXT PRIMARY KEY,
    requested_at BIGINT NOT NULL,
    erased_at BIGINT
);

-- How many rows were deleted of a small table since the database was built. They cost later scans of it as much as
-- living ones, until it is rebuilt.
CREATE TABLE deletions (
    deleted_from TEXT PRIMARY KEY,
    deleted_rows BIGINT NOT NULL
);
