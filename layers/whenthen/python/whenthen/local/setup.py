"""First run: the owner, keys, a demo applet and the credentials file."""

import json
import logging
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from tzlocal import get_localzone_name

from whenthen.engine import applets, keys
from whenthen.model.applet import Applet
from whenthen.services.zones import DEFAULT_ZONE, check_zone
from whenthen.settings import Settings
from whenthen.store import keys as key_store
from whenthen.store.connections import has_sealed
from whenthen.store.database import Database
from whenthen.store.profiles import set_zone
from whenthen.vault import make_key_file

logger = logging.getLogger(__name__)

OWNER = "owner"
DEMO_EVENT = "hello"

_DEMO = {
    "name": "Hello from a webhook",
    "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": DEMO_EVENT}},
    "actions": [
        {
            "service": "notifications",
            "action": "send_notification",
            "fields": {"title": "{{EventName}}", "message": "{{Value1}} says hello at {{OccurredAt}}"},
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a person needs to use the local run. Written to ``credentials.json`` in whenthen's home."""

    url: str
    webhook_key: str
    api_key: str


def make_owner(database: Database) -> bool:
    """Make sure that there is an owner; return whether this call made it, with a demo applet."""
    if OWNER in key_store.list_users(database):
        return False
    key_store.add_user(database, OWNER, "Owner")
    set_zone(database, OWNER, _machine_zone())
    applets.create(database, OWNER, Applet.model_validate(_DEMO))
    return True


def _machine_zone() -> str:
    try:
        return check_zone(get_localzone_name())
    except (ValueError, LookupError, OSError):
        return DEFAULT_ZONE


def make_secrets_key(database: Database, settings: Settings) -> None:
    """Make sure that there is a key for secrets. A new one never takes the place of one that is missed."""
    path = settings.secrets_key_path
    if settings.kms_key_id or path.exists():
        return
    if has_sealed(database):
        logger.error("The key file %s is missing: put it back, or no connection can be used.", path)
        return
    make_key_file(path)


def make_credentials(database: Database, path: Path, url: str) -> tuple[Credentials, bool]:
    """Return the credentials in `path`, made anew when they don't open this database, and whether they are new.

    Parameters
    ----------
    path:
        The file, readable by its owner alone.
    url:
        Where this run listens.
    """
    known = _read(path)
    if known is not None and _opens(database, known):
        credentials, made = Credentials(url, known.webhook_key, known.api_key), False
    else:
        _, api_key = keys.create(database, OWNER, "api", "local run")
        _, webhook_key = keys.create(database, OWNER, "webhook", "local run")
        credentials, made = Credentials(url, webhook_key, api_key), True
    _write(path, credentials)
    return credentials, made


def _opens(database: Database, known: Credentials) -> bool:
    webhook = key_store.find_key(database, key_store.hash_key(known.webhook_key))
    return (
        keys.owner_of(database, known.api_key) == OWNER
        and webhook is not None
        and webhook.kind == "webhook"
        and webhook.revoked_at is None
    )


def _read(path: Path) -> Credentials | None:
    try:
        return Credentials(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _write(path: Path, credentials: Credentials) -> None:
    unfinished = path.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(credentials), file, indent=2)
        file.write("\n")
    unfinished.rename(path)
