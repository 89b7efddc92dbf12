-- name: read_meta
SELECT value FROM meta WHERE name = CAST(:name AS TEXT)

-- name: insert_meta
INSERT INTO meta (name, value) VALUES (:name, :value)

-- name: update_meta
UPDATE meta SET value = :value WHERE name = CAST(:name AS TEXT)

-- name: insert_probe
INSERT INTO probes (probe_id, increments) VALUES (:probe_id, 0)

-- name: increment_probe
UPDATE probes SET increments = increments + 1 WHERE probe_id = CAST(:probe_id AS TEXT)

-- name: read_probe
SELECT increments FROM probes WHERE probe_id = CAST(:probe_id AS TEXT)

-- name: swap_meta
-- Refused when another has changed it since it was read.
UPDATE meta SET value = CASE WHEN value = :seen THEN :value END WHERE name = CAST(:name AS TEXT)
