"""The servers that the settings name: databases, trusted or not, and their hosts."""

from typing import TYPE_CHECKING

from whenthen.errors import NotConfigured
from whenthen.settings import Settings
from whenthen.store.database import Database, connect
from whenthen.store.errors import Unreachable

if TYPE_CHECKING:
    from whenthen.store.host import Host


def open_database(settings: Settings) -> Database:
    """Return the database that the settings name, trusted or not: for `whenthen db` itself.

    Raises
    ------
    NotConfigured
        ALOPEX_URL is no URL, or plain http to another machine.
    """
    target = settings.alopex_url
    if not target:
        settings.home.mkdir(parents=True, exist_ok=True)
        return connect(str(settings.home / "whenthen.alopex"))
    try:
        return _connect_server(settings, target)
    except ValueError as error:
        raise NotConfigured(f"ALOPEX_URL: {error}") from error


def open_history(settings: Settings) -> Database:
    """Return the database at ALOPEX_HISTORY_URL, trusted or not. Its key is that of the other.

    Raises
    ------
    NotConfigured
        ALOPEX_HISTORY_URL is no URL, or plain http to another machine.
    """
    try:
        return _connect_server(settings, settings.alopex_history_url)
    except ValueError as error:
        raise NotConfigured(f"ALOPEX_HISTORY_URL: {error}") from error


def open_hosts(settings: Settings) -> "list[Host]":
    """Return the hosts of the servers that the settings name; none for the engine in this process.

    Raises
    ------
    NotConfigured
        A URL is none, or plain http to another machine.
    """
    from whenthen.store.host import Host

    def host(name: str, url: str, report: str) -> Host:
        return Host(
            name, url, report=report, read_key=lambda: _read_key(settings, again=True), ca_file=settings.alopex_ca_file
        )

    if not settings.alopex_url:
        return []
    try:
        hosts = [host("database", settings.alopex_url, settings.host_report)]
        if settings.alopex_history_url not in ("", settings.alopex_url):
            hosts.append(host("history", settings.alopex_history_url, ""))
    except ValueError as error:
        raise NotConfigured(f"ALOPEX_URL, ALOPEX_HISTORY_URL: {error}") from error
    return hosts


def _connect_server(settings: Settings, target: str) -> Database:
    if not target.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    if not settings.alopex_api_key_secret:
        api_key = settings.alopex_api_key.get_secret_value()
        return connect(target, api_key=api_key or None, ca_file=settings.alopex_ca_file)
    return connect(
        target,
        api_key=_read_key(settings, again=False),
        ca_file=settings.alopex_ca_file,
        read_key_again=lambda: _read_key(settings, again=True),
    )


def _read_key(settings: Settings, *, again: bool) -> str:
    """Return the servers' key; `again` asks for a secret that was read before, too."""
    if not settings.alopex_api_key_secret:
        return settings.alopex_api_key.get_secret_value()
    # Only with a secret's name is boto3 worth its import.
    from aws_lambda_powertools.utilities.parameters import get_secret
    from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

    try:
        return str(get_secret(settings.alopex_api_key_secret, force_fetch=again))
    except GetParameterError as error:
        # Without its key the database is as good as down: an event goes to the intake queue.
        raise Unreachable(f"The database's key can't be read: {error}") from error
