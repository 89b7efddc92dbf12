-- Which days of a month have numbers apart from its rollups, in `stat_parts_<yyyymmdd>`: each with a space behind it. A
-- page finds them by the key of the month.
CREATE TABLE stat_months (
    stat_month TEXT PRIMARY KEY,
    part_days TEXT NOT NULL
);
