-- name: create_stats
-- Rollups of what is in the log, to be summed: there is about one row of each, see `stat_parts.sql`. `kind` is applet, by
-- day, or service, by hour. `hour` is -1 for a whole day. Durations in milliseconds. Days and hours are those of the slot, UTC.
CREATE TABLE IF NOT EXISTS daily_stats_{month} (
    stat_id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    day TEXT NOT NULL,
    hour BIGINT NOT NULL,
    succeeded BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0,
    skipped BIGINT NOT NULL DEFAULT 0,
    unknown BIGINT NOT NULL DEFAULT 0,
    attempts BIGINT NOT NULL DEFAULT 0,
    duration BIGINT NOT NULL DEFAULT 0,
    longest BIGINT NOT NULL DEFAULT 0
)

-- name: insert_stats
INSERT INTO daily_stats_{month} (stat_id, owner_id, kind, subject, day, hour)
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
    json_extract(value, '$[3]'), json_extract(value, '$[4]'), CAST(json_extract(value, '$[5]') AS BIGINT)
FROM json_each(:rows)
ON CONFLICT DO NOTHING

-- name: add_stats
UPDATE daily_stats_{month} SET
    succeeded = succeeded + :succeeded, failed = failed + :failed, skipped = skipped + :skipped,
    unknown = unknown + :unknown, attempts = attempts + :attempts, duration = duration + :duration,
    longest = CASE WHEN longest < :longest THEN :longest ELSE longest END
WHERE stat_id = CAST(:stat_id AS TEXT)

-- name: read_month
-- Whether there are rollups of a month.
SELECT log_month AS stat_month, '' AS part_days FROM log_months WHERE log_month = CAST(:month AS TEXT)

-- name: read_part_days
SELECT stat_month, part_days FROM stat_months WHERE stat_month = CAST(:month AS TEXT)

-- name: list_stats
-- One month of one owner. Its size is that of days, applets and services, whatever the log's.
SELECT kind, subject, day, hour, succeeded, failed, skipped, unknown, attempts, duration, longest
FROM daily_stats_{month} WHERE owner_id = :owner_id AND day >= :from_day AND day <= :to_day

-- name: list_parts
-- As `list_stats`: of the present day, and of the one before until it is merged.
SELECT kind, subject, day, hour, SUM(succeeded) AS succeeded, SUM(failed) AS failed, SUM(skipped) AS skipped,
    SUM(unknown) AS unknown, SUM(attempts) AS attempts, SUM(duration) AS duration, MAX(longest) AS longest
FROM stat_parts_{day} WHERE owner_id = :owner_id GROUP BY kind, subject, day, hour

-- name: sum_stats
-- What pages show of a month: one row an applet, with the last day on which it ran, and one row a service and hour.
SELECT kind, subject, of_day AS day, hour, SUM(succeeded) AS succeeded, SUM(failed) AS failed, SUM(skipped) AS skipped,
    SUM(unknown) AS unknown, MAX(day) AS last_day
FROM (
    SELECT kind, subject, CASE WHEN kind = 'applet' THEN '' ELSE day END AS of_day, day, hour, succeeded, failed, skipped,
        unknown
    FROM daily_stats_{month}
    WHERE owner_id = :owner_id AND day >= :from_day AND day <= :to_day AND (kind = 'service' OR day >= :applets_from)
) AS month
GROUP BY kind, subject, of_day, hour

-- name: sum_parts
-- As `sum_stats`.
SELECT kind, subject, CASE WHEN kind = 'applet' THEN '' ELSE MAX(day) END AS day, hour, SUM(succeeded) AS succeeded,
    SUM(failed) AS failed, SUM(skipped) AS skipped, SUM(unknown) AS unknown, MAX(day) AS last_day
FROM stat_parts_{day}
WHERE owner_id = :owner_id AND (kind = 'service' OR day >= :applets_from)
GROUP BY kind, subject, hour

-- name: delete_stats
DELETE FROM daily_stats_{month} WHERE owner_id = :owner_id
