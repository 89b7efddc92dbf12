-- name: insert_message
-- The key is the action's idempotency key, so a repeat leaves one message.
INSERT INTO inbox (message_id, owner_id, applet_id, execution_id, created_at, title, body, link)
VALUES (:message_id, :owner_id, :applet_id, :execution_id, :created_at, :title, :body, :link)
ON CONFLICT DO NOTHING

-- name: list_messages
SELECT message_id, owner_id, applet_id, execution_id, created_at, title, body, link
FROM inbox WHERE owner_id = :owner_id
  AND (created_at < :before_at OR (created_at = :before_at AND message_id < :before_id))
ORDER BY created_at DESC, message_id DESC LIMIT 200

-- name: count_messages
SELECT COUNT(*) AS messages FROM inbox

-- name: find_trim_point
-- The creation time of the oldest message to keep.
SELECT created_at FROM inbox WHERE owner_id = :owner_id ORDER BY created_at DESC LIMIT 1 OFFSET 999

-- name: trim_messages
DELETE FROM inbox WHERE owner_id = :owner_id AND created_at < :before
