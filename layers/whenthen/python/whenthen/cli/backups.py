"""`whenthen backup` and `whenthen restore`."""

from contextlib import closing
from pathlib import Path

import click

from whenthen.clock import isoformat, now_ms
from whenthen.errors import NotConfigured
from whenthen.servers import open_database, open_history, open_hosts
from whenthen.settings import settings
from whenthen.store.backup import Record, read_record, save
from whenthen.store.backup import restore as restore_backup
from whenthen.store.errors import StoreError
from whenthen.store.migrations import LATEST, schema_version
from whenthen.store.tables import STATEMENT_SECONDS

_MIB = 1024 * 1024


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def backup(directory: Path) -> None:
    """Let the servers export what they have, and copy it to DIRECTORY.

    Everybody waits while a server exports: seconds for each GiB. Where the server is on another machine its export
    stays there, and how to fetch it is printed.
    """
    here = settings()
    if not here.alopex_url:
        raise NotConfigured("ALOPEX_URL is not set: stop `whenthen run` and copy the files in WHENTHEN_HOME")
    # The history last: a log that is newer than the other database loads nothing twice, an older one would lack rows.
    opened = [open_database(here)]
    # Two hosts of one layout may give two exports the same path.
    copied: set[Path] = set()
    hosts = open_hosts(here)
    if len(hosts) > 1:
        opened.append(open_history(here))
    for host, database in zip(hosts, opened, strict=True):
        with closing(database):
            record = Record(schema_version=schema_version(database), made_at=isoformat(now_ms()))
        export = Path(host.export(timeout_seconds=STATEMENT_SECONDS))
        copy = directory / f"{host.name}-{export.name}"
        if export in copied or not export.exists():
            click.echo(f"{host.name}: its host has the export in {export}. Before it is pruned there, fetch it:")
            click.echo(f"  rsync --archive --sparse HOST:{export}/ {copy}/")
            continue
        copied.add(export)
        try:
            checked = save(export, copy, record)
        except OSError as error:
            raise StoreError(f"{export} can't be copied to {copy}: {error}") from error
        click.echo(f"{host.name}: {checked.files} files, {checked.size // _MIB} MiB, checked, in {copy}.")


@click.command()
@click.argument("source", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("data_dir", type=click.Path(file_okay=False, path_type=Path))
def restore(source: Path, data_dir: Path) -> None:
    """Put the backup SOURCE into the empty DATA_DIR, checked, and say what to do next."""
    record = read_record(source)
    if record is not None and record.schema_version > LATEST:
        raise StoreError(
            f"The backup's schema is version {record.schema_version}, this whenthen knows {LATEST}: use a newer one."
        )
    try:
        checked = restore_backup(source, data_dir)
    except OSError as error:
        raise StoreError(f"{source} can't be copied to {data_dir}: {error}") from error
    made = f", made at {record.made_at}" if record else ""
    click.echo(f"Restored {checked.files} files, {checked.size // _MIB} MiB, checked{made}.")
    click.echo(
        f"Next: chown --recursive alopex:alopex {data_dir}, start the server on it, and run `whenthen db migrate`."
    )
