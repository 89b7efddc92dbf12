-- Numbers of a day that are to be merged into the rollups: a part of a slot with very many brings rows of its own, since a
-- request can't change as many. Columnar, since a table of so many rows could not be dropped else (ALOPEX.md 4).

-- name: create_parts
-- `part_id` names the part and begins with its slot. The other columns are those of the rollups.
CREATE TABLE IF NOT EXISTS stat_parts_{day} (
    part_id TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    day TEXT NOT NULL,
    hour BIGINT NOT NULL,
    succeeded BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    skipped BIGINT NOT NULL,
    unknown BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    duration BIGINT NOT NULL,
    longest BIGINT NOT NULL
) WITH (storage='columnar', compression='zstd')

-- name: insert_stat_month
INSERT INTO stat_months (stat_month, part_days) VALUES (:month, '') ON CONFLICT DO NOTHING

-- name: name_parts
-- In the request that makes the table, so that none is there unseen.
UPDATE stat_months SET part_days = REPLACE(part_days, :part_day, '') || :part_day
WHERE stat_month = CAST(:month AS TEXT)

-- name: write_parts
COPY (
    SELECT :part_id AS part_id, json_extract(value, '$[0]') AS owner_id, json_extract(value, '$[1]') AS kind,
        json_extract(value, '$[2]') AS subject, json_extract(value, '$[3]') AS day,
        CAST(json_extract(value, '$[4]') AS BIGINT) AS hour, CAST(json_extract(value, '$[5]') AS BIGINT) AS succeeded,
        CAST(json_extract(value, '$[6]') AS BIGINT) AS failed, CAST(json_extract(value, '$[7]') AS BIGINT) AS skipped,
        CAST(json_extract(value, '$[8]') AS BIGINT) AS unknown, CAST(json_extract(value, '$[9]') AS BIGINT) AS attempts,
        CAST(json_extract(value, '$[10]') AS BIGINT) AS duration, CAST(json_extract(value, '$[11]') AS BIGINT) AS longest
    FROM json_each(:rows)
) TO :file WITH (FORMAT PARQUET)

-- name: take_parts
COPY stat_parts_{day} FROM :file WITH (FORMAT PARQUET)

-- name: list_stat_months
SELECT part_days FROM stat_months ORDER BY stat_month

-- name: merge_parts
-- In one request with `drop_parts` and `forget_parts`: whoever comes second finds no table. A rollup that is there already
-- stays as it is, and the merged ones stand beside it: readers sum. The owner's id, which may be any text, is the last.
INSERT INTO daily_stats_{month}
    (stat_id, owner_id, kind, subject, day, hour, succeeded, failed, skipped, unknown, attempts, duration, longest)
SELECT :merge_id || '.' || kind || '.' || subject || '.' || CAST(hour AS TEXT) || '.' || owner_id,
    owner_id, kind, subject, day, hour, SUM(succeeded), SUM(failed), SUM(skipped), SUM(unknown), SUM(attempts),
    SUM(duration), MAX(longest)
FROM stat_parts_{day} GROUP BY owner_id, kind, subject, day, hour

-- name: drop_parts
DROP TABLE stat_parts_{day}

-- name: forget_parts
UPDATE stat_months SET part_days = REPLACE(part_days, :part_day, '') WHERE stat_month = CAST(:month AS TEXT)
