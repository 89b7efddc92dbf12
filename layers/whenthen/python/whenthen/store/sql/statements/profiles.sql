-- name: insert_profile
INSERT INTO profiles (profile_id, zone) VALUES (:owner_id, :zone) ON CONFLICT DO NOTHING

-- name: set_zone
UPDATE profiles SET zone = :zone WHERE profile_id = CAST(:owner_id AS TEXT)

-- name: read_profile
SELECT profile_id, zone FROM profiles WHERE profile_id = CAST(:owner_id AS TEXT)
