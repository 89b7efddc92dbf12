-- Mails that collect. `digest_id` is a hash of what makes the digest this one, its due time too, and is the id of the event
-- of the execution that sends it, `sending_id`. `digest_state`: collecting or closed; nothing is added to a closed one, and
-- none is opened again. `contents` tells the mail, JSON; empty when it was erased. Its entries are numbered from 1 to
-- `collected`.
CREATE TABLE digests (
    digest_id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    sending_id TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    digest_state TEXT NOT NULL,
    collected BIGINT NOT NULL,
    contents TEXT NOT NULL
);

-- `entry_id` is `<digest_id>.<number>`. `entry_key` refuses an entry that comes again, into whichever digest. `entry` is
-- JSON; empty when it was erased.
CREATE TABLE digest_entries (
    entry_id TEXT PRIMARY KEY,
    entry_key TEXT NOT NULL UNIQUE,
    entry TEXT NOT NULL
);
