"""`whenthen db`: the database itself."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import click
import uuid_utils

from whenthen.errors import NotConfigured
from whenthen.servers import open_database, open_history
from whenthen.settings import Settings, settings
from whenthen.store.database import Database, connect
from whenthen.store.errors import MissingTable, Unreachable
from whenthen.store.host import Host
from whenthen.store.meta import prove_single_flight, require_ready
from whenthen.store.migrations import LATEST, migrate
from whenthen.store.rebuild import Rebuild, require_fenced
from whenthen.store.tables import STATEMENT_SECONDS


@click.group()
def db() -> None:
    """The database at ALOPEX_URL, or the engine in WHENTHEN_HOME."""


@db.command("migrate")
def db_migrate() -> None:
    """Bring the schema up to date and prove that the server is safe, that of the history, too."""
    for name, database in _databases(settings()):
        applied = migrate(database)
        said = f"Applied schema versions {applied}" if applied else f"The schema is at version {LATEST} already"
        click.echo(f"{said}{name}.")
        prove_single_flight(database)
        click.echo(f"Proved: the server{name} runs one statement at a time.")


@db.command("check")
def db_check() -> None:
    """Check the schema, and prove again that the server is safe, that of the history, too."""
    for name, database in _databases(settings()):
        # Without tables there is nothing to prove on; require_ready says what to run.
        with suppress(MissingTable):
            prove_single_flight(database)
        require_ready(database)
        click.echo(f"The schema{name} is at version {LATEST}, and the server runs one statement at a time.")


def _databases(here: Settings) -> Iterator[tuple[str, Database]]:
    """Yield the databases that the settings name, with a word for the second one."""
    with closing(open_database(here)) as database:
        yield "", database
    if here.alopex_history_url not in ("", here.alopex_url):
        with closing(open_history(here)) as database:
            yield " of the history", database


@db.command("rebuild")
@click.option("--to", "target", required=True, metavar="URL", help="The fresh server.")
@click.option(
    "--key-file",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Holds the key that both servers ask for meanwhile.",
)
def db_rebuild(target: str, key_file: Path) -> None:
    """Copy every live row of the database at ALOPEX_URL into a fresh one, and compare all of it.

    Both servers ask for a key of their own meanwhile, so that nobody else can write to them; ALOPEX_API_KEY stays the
    functions' key, and both must refuse it. May be cut off and run again. docs/rebuild.md is the whole routine.
    """
    here = settings()
    if not here.alopex_url:
        raise NotConfigured("ALOPEX_URL is not set: the engine in WHENTHEN_HOME can't be rebuilt")
    key = key_file.read_text().strip()
    for name, url in (("The source", here.alopex_url), ("The target", target)):
        _require_fenced(here, name, url)
    host = Host("target", target, read_key=lambda: key, ca_file=here.alopex_ca_file)
    with (
        closing(_open(here, here.alopex_url, key)) as source,
        closing(_open(here, target, key)) as fresh,
    ):
        report = Rebuild(
            source,
            fresh,
            file=f"{here.copy_dir}/rebuild-{uuid_utils.uuid7()}.parquet",
            checkpoint=lambda: host.export(timeout_seconds=STATEMENT_SECONDS),
            say=click.echo,
        ).run()
    if report.left:
        click.echo(f"Left behind, since nothing reads them: {', '.join(report.left)}.")
    click.echo(
        f"Done: {sum(report.rows.values()):,} rows in {len(report.rows)} tables, each compared. "
        "The source is set aside; start the server on the new data directory, with the functions' key."
    )


def _require_fenced(here: Settings, name: str, url: str) -> None:
    with closing(open_database(here.model_copy(update={"alopex_url": url}))) as database:
        try:
            require_fenced(database, f"{name}, {url},")
        except Unreachable as error:
            raise Unreachable(f"{name}, {url}, can't be reached.") from error


def _open(here: Settings, url: str, key: str) -> Database:
    return connect(url, api_key=key, ca_file=here.alopex_ca_file)
