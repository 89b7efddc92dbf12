-- name: insert_retention
INSERT INTO retentions (retention_id, payload_days) VALUES (:owner_id, :days) ON CONFLICT DO NOTHING

-- name: set_retention
UPDATE retentions SET payload_days = :days WHERE retention_id = CAST(:owner_id AS TEXT)

-- name: read_retention
SELECT retention_id, payload_days FROM retentions WHERE retention_id = CAST(:owner_id AS TEXT)

-- name: list_retentions
SELECT retention_id, payload_days FROM retentions
