-- name: insert_target
INSERT INTO targets (target, left_alone_until) VALUES (:target, 0) ON CONFLICT DO NOTHING

-- name: leave_alone
-- Of two wishes the later one counts.
UPDATE targets SET left_alone_until = CASE WHEN left_alone_until < :until THEN :until ELSE left_alone_until END
WHERE target = CAST(:target AS TEXT)

-- name: list_left_alone
-- One row a host that has ever said so; read by each worker every few seconds.
SELECT target, left_alone_until FROM targets WHERE left_alone_until > :now LIMIT 1000
