-- The tables that owners keep in whenthen. Here they are sheets, so that they are not taken for the database's own.
-- `sheet_id` is a hash of owner and name. `column_names` is a JSON list, in order. Rows are numbered from 1 on, without
-- gaps, up to `last_row`; none is ever taken out, but those up to `emptied_to` are empty. `sheet_bytes` counts the others.
CREATE TABLE sheets (
    sheet_id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    sheet_name TEXT NOT NULL,
    column_names TEXT NOT NULL,
    emptied_to BIGINT NOT NULL,
    last_row BIGINT NOT NULL,
    sheet_bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

-- `row_id` is `<sheet_id>.<number, 12 digits>`: a sheet's rows are next to each other. `row_key` refuses a row that comes
-- again. `row_values` is a JSON object of texts, or empty when the row was emptied.
CREATE TABLE sheet_rows (
    row_id TEXT PRIMARY KEY,
    row_key TEXT NOT NULL UNIQUE,
    added_at BIGINT NOT NULL,
    row_values TEXT NOT NULL
);

-- Which phones an owner has: `devices` is a JSON list of names. With it they are found by key.
CREATE TABLE phone_lists (
    listed_owner_id TEXT PRIMARY KEY,
    devices TEXT NOT NULL,
    list_revision BIGINT NOT NULL
);

-- Where a phone was last: `fixes` is a JSON list, and `last_fix` the number of its latest. `device` is empty when the phone
-- was erased.
CREATE TABLE phones (
    phone_id TEXT PRIMARY KEY,
    device TEXT NOT NULL,
    fixes TEXT NOT NULL,
    last_fix BIGINT NOT NULL
);
