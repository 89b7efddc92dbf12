-- name: insert_applet_run
INSERT INTO applet_runs (ran_applet_id) VALUES (:applet_id) ON CONFLICT DO NOTHING

-- name: claim_run
-- The last run is long enough ago, or it stays as it is. One that is as far ahead was told by a clock that was wrong.
-- Every CASE sees the row as it was.
UPDATE applet_runs SET
    ran_execution = CASE WHEN ran_at <= :since OR ran_at >= :ahead THEN :execution_id ELSE ran_execution END,
    ran_at = CASE WHEN ran_at <= :since OR ran_at >= :ahead THEN :now ELSE ran_at END
WHERE ran_applet_id = CAST(:applet_id AS TEXT)

-- name: read_applet_run
SELECT ran_applet_id, ran_at, ran_execution, failures, reviewed
FROM applet_runs WHERE ran_applet_id = CAST(:applet_id AS TEXT)

-- name: count_failure
UPDATE applet_runs SET failures = failures + 1 WHERE ran_applet_id = CAST(:applet_id AS TEXT)

-- name: list_failing
-- Once a tick. One row an applet that has ever failed or cooled down.
SELECT ran_applet_id, ran_at, ran_execution, failures, reviewed
FROM applet_runs WHERE failures > reviewed ORDER BY ran_applet_id LIMIT 200

-- name: note_review
-- Failures that have come meanwhile stay to be looked at. Of two reviews of the same failures the first one counts.
UPDATE applet_runs SET
    failures = CASE WHEN reviewed = :seen_reviewed AND failures >= :seen THEN failures - :seen + :failures
        ELSE failures END,
    reviewed = CASE WHEN reviewed = :seen_reviewed AND failures >= :seen THEN :failures ELSE reviewed END
WHERE ran_applet_id = CAST(:applet_id AS TEXT)

-- name: forget_failures
UPDATE applet_runs SET failures = 0, reviewed = 0 WHERE ran_applet_id = CAST(:applet_id AS TEXT)
