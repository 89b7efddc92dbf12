-- name: create_meta
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)

-- name: create_schema_versions
CREATE TABLE IF NOT EXISTS schema_versions (schema_version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL)

-- name: create_probes
CREATE TABLE IF NOT EXISTS probes (probe_id TEXT PRIMARY KEY, increments BIGINT NOT NULL)

-- name: record_version
-- Stands in the same script as the tables it records: of two migrations at once, one is refused whole.
INSERT INTO schema_versions (schema_version, applied_at) VALUES (:schema_version, :applied_at)

-- name: read_version
SELECT MAX(schema_version) AS schema_version FROM schema_versions
