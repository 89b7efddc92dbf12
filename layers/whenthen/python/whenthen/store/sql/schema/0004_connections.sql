-- Owners' accounts at services. `shown` is JSON text of what may be shown: the fields that are no secrets, and the names of
-- those that are. `sealed` is the secrets, encrypted and bound to the row (`whenthen.vault`).
-- `state`: unfinished, working, failing or broken. `failing_since` is set while it is failing or broken.
-- `message`: words for the owner. `version` rises with each change of the name, the fields or the secrets, and when it
-- becomes broken. `claim`: who gets new tokens now, or empty, and `lease_until` when that runs out.
-- A deleted row stays, emptied: its id may still stand in somebody's webhook.
CREATE TABLE connections (
    connection_id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    service TEXT NOT NULL,
    connection_name TEXT NOT NULL,
    account_name TEXT NOT NULL,
    shown TEXT NOT NULL,
    sealed TEXT NOT NULL,
    state TEXT NOT NULL,
    failing_since BIGINT,
    message TEXT NOT NULL,
    version BIGINT NOT NULL,
    claim TEXT NOT NULL DEFAULT '',
    lease_until BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);
