"""Everything in one process: trigger, console, worker and poller."""

import logging
import shlex
import signal
import socket
from contextlib import closing, suppress

import click
import uvicorn

from whenthen.errors import NotConfigured
from whenthen.local.loops import Loops
from whenthen.local.setup import DEMO_EVENT, Credentials, make_credentials, make_owner, make_secrets_key
from whenthen.queues.directory import DirectoryQueue
from whenthen.queues.memory import MemoryQueue
from whenthen.servers import open_database, open_history
from whenthen.settings import Settings
from whenthen.store.database import Database
from whenthen.store.meta import prove_single_flight
from whenthen.store.migrations import migrate, schema_version
from whenthen.web import hooks, site
from whenthen.wiring import Runtime

_SHUTDOWN_SECONDS = 10


def run(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM, then finish what is being done and stop.

    Raises
    ------
    NotConfigured
        The port is taken.
    NotReady
        The server at ALOPEX_URL is not safe.
    StoreError
        The database can't be opened.
    """
    listener = _listen(settings)
    database = open_database(settings)
    try:
        # One call that is not tried again: a server that is not there is told at once.
        schema_version(database)
        migrate(database)
        prove_single_flight(database)
        if settings.alopex_history_url not in ("", settings.alopex_url):
            with closing(open_history(settings)) as log:
                migrate(log)
                prove_single_flight(log)
        make_owner(database)
        make_secrets_key(database, settings)
        _serve(settings, database, listener)
    finally:
        database.close()
        listener.close()


def _listen(settings: Settings) -> socket.socket:
    try:
        return socket.create_server((settings.host, settings.port))
    except OSError as error:
        raise NotConfigured(
            f"can't listen on {settings.host}:{settings.port} ({error.strerror}); set WHENTHEN_PORT to another port"
        ) from error


def _serve(settings: Settings, database: Database, listener: socket.socket) -> None:
    runtime = Runtime(
        settings,
        database=database,
        wakeups=MemoryQueue(),
        arrivals=DirectoryQueue(settings.home / "intake"),
        check_orders=MemoryQueue(),
    )
    settings.home.mkdir(parents=True, exist_ok=True)
    url = f"http://{settings.host}:{listener.getsockname()[1]}"
    path = settings.home / "credentials.json"
    credentials, made = make_credentials(database, path, url)
    app = site.make_app(runtime, *hooks.routes(runtime))
    # A webhook's path holds its key, so requests are not logged.
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=_SHUTDOWN_SECONDS
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    loops = Loops(runtime)
    loops.start()
    try:
        click.echo(_banner(settings, credentials, str(path), made=made))
        # uvicorn raises the signal again after it has stopped, and SIGTERM would end the process before the loops.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        click.echo("Stopping: finishing what is being done.")
        loops.stop()
        runtime.worker.close()


def _banner(settings: Settings, credentials: Credentials, path: str, *, made: bool) -> str:
    webhook_key = credentials.webhook_key if made else _read_from(path, "webhook_key")
    api_key = credentials.api_key if made else _read_from(path, "api_key")
    engine = (
        f"the Alopex server at {settings.alopex_url}"
        if settings.alopex_url
        else f"the embedded Alopex engine in {settings.home}, for trying whenthen out: it slows down as it fills"
    )
    shown = "Your keys, shown this once" if made else "Your keys"
    return f"""
whenthen runs at {credentials.url}, on {engine}.
{shown}: they are in {path}.

Open it in a browser:
  {credentials.url}/

Fire the demo applet:
  curl "{credentials.url}/trigger/{DEMO_EVENT}/with/key/{webhook_key}?value1=World"
See what it did:
  curl -H "Authorization: Bearer {api_key}" {credentials.url}/api/inbox
  curl -H "Authorization: Bearer {api_key}" {credentials.url}/api/activity

Ctrl-C stops it; everything is kept.
"""


def _read_from(path: str, name: str) -> str:
    """Return shell text that reads a key from the credentials file, so that it is not printed again."""
    return f"""$(sed -n 's/.*"{name}": "\\(.*\\)".*/\\1/p' {shlex.quote(path)})"""
