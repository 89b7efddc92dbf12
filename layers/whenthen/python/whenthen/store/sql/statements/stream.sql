-- The part of the activity that is not in the log. A page of it is one statement over several places, made of these, so
-- that all of it is of one instant: an execution that moves is in one of them.

-- name: list_place
-- A page of a slot, of `waiting` or of a batch, in the order of the slots that they come from. Its own place is a
-- constant: a statement of several places gives their rows without an order between them.
SELECT * FROM (
    SELECT :place_name AS place, execution_id, applet_id, owner_id, occurred_at, state, due_at, wake_at, claim, sending,
        ingredients, progress
    FROM executions_{place}
    WHERE owner_id = :owner_id
      AND (:applet_id = '' OR applet_id = :applet_id) AND (:state = '' OR state = :state)
      AND (SUBSTR(execution_id, 1, 12) < :before_slot OR (SUBSTR(execution_id, 1, 12) = :before_slot
        AND (occurred_at < :before_at OR (occurred_at = :before_at AND execution_id < :before_id))))
    ORDER BY SUBSTR(execution_id, 1, 12) DESC, occurred_at DESC, execution_id DESC LIMIT :rows
) AS page

-- name: list_places
-- All slots and batches in the columns of `list_place`: numbers stand where numbers have to, whatever they are.
SELECT slot AS place, '' AS execution_id, '' AS applet_id, '' AS owner_id, opened_at AS occurred_at, '' AS state,
    settled_at AS due_at, settled_at AS wake_at, '' AS claim, reopened AS sending, '' AS ingredients, '' AS progress
FROM slots

-- name: count_place
-- How the executions of a place stand, by the hour of their slot, as the rollups of the log count them. `facts` as
-- `store.progress` joins them; what is not final has none.
SELECT applet_id, state, SPLIT_PART(facts, :separator, 5) AS service, hour, COUNT(*) AS runs,
    MAX(CAST(SPLIT_PART(facts, :separator, 1) AS BIGINT)) AS ended_at, MAX(occurred_at) AS last_at,
    MIN(occurred_at) AS first_at, MIN(due_at) AS due_at
FROM (
    SELECT applet_id, state, occurred_at, due_at, SUBSTR(execution_id, 1, 10) AS hour,
        COALESCE(json_extract(progress, '$.facts'), :no_facts) AS facts
    FROM executions_{place} WHERE owner_id = :owner_id
) AS part
GROUP BY applet_id, state, SPLIT_PART(facts, :separator, 5), hour
