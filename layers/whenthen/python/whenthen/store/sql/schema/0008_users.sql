-- Who signs in to the console, as whom: an owner may have several. `user_key` is a hash of the name. `password` is a hash in
-- the PHC form, or empty while there is none. `session_key` signs the user's sessions; it is encrypted and bound to the row
-- (`whenthen.vault`). `invited_hash` is that of an invitation that can be accepted until `invited_until`, or empty.
-- `user_version` guards changes. The row of an erased owner stays, emptied.
CREATE TABLE console_users (
    user_key TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    shown_name TEXT NOT NULL,
    is_admin BOOLEAN NOT NULL,
    password TEXT NOT NULL,
    session_key TEXT NOT NULL,
    invited_hash TEXT NOT NULL,
    invited_until BIGINT NOT NULL,
    disabled_at BIGINT,
    user_version BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

-- One row, `first`, as soon as a user has a password. Of two first users at once, one is refused by the key.
CREATE TABLE first_users (
    first_user TEXT PRIMARY KEY,
    made_at BIGINT NOT NULL
);

-- How often signing in has failed of late: a row a user, and rows that many networks, or many names that are nobody's, share.
-- Each failure puts `eases_at` further away, and at it all are forgotten. `tries_revision` guards the counting.
CREATE TABLE sign_in_tries (
    tries_key TEXT PRIMARY KEY,
    tried_at BIGINT NOT NULL DEFAULT 0,
    eases_at BIGINT NOT NULL DEFAULT 0,
    tries_revision BIGINT NOT NULL DEFAULT 0
);
