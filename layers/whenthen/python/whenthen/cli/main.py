"""The `whenthen` command."""

from datetime import UTC, datetime

import click

from whenthen.cli.backups import backup, restore
from whenthen.cli.by_hand import tick_by_hand
from whenthen.cli.database import db
from whenthen.cli.operators import activity, doctor, status
from whenthen.cli.owners import owner_erase, owner_invite
from whenthen.clock import from_datetime
from whenthen.engine import keys
from whenthen.errors import WhenthenError
from whenthen.servers import open_database
from whenthen.services.zones import DEFAULT_ZONE, check_zone
from whenthen.settings import settings
from whenthen.store import keys as key_store
from whenthen.store.errors import Duplicate
from whenthen.store.meta import require_ready
from whenthen.store.profiles import set_zone


class _Group(click.Group):
    """A group whose commands end with a message and exit code 1 where whenthen has a reason to give."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except WhenthenError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Group)
def main() -> None:
    """Whenthen: when something happens, then do something, exactly once."""


for command in (db, backup, restore, status, doctor, activity):
    main.add_command(command)


@main.command()
def run() -> None:
    """Run everything in this process."""
    from whenthen.local.server import run as run_server

    run_server(settings())


@main.command("tick")
@click.option("--time", "time_", type=str, default=None, help="The instant the tick stands for, RFC 3339.")
def tick_command(time_: str | None) -> None:
    """Do the poller's minute once, by hand.

    Where no queue is set, its checks and the executions that they set off are done here. A tick of a later instant
    runs what is due by then, and schedules go on from there: turn an applet off and on to let it begin at the present.
    """
    try:
        now = from_datetime(datetime.fromisoformat(time_) if time_ is not None else datetime.now(UTC))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--time") from error
    report = tick_by_hand(settings(), now)
    click.echo(f"overdue {report.overdue}, drained {report.drained}, checks {report.checks}")


@main.group()
def owner() -> None:
    """Owners."""


owner.add_command(owner_erase)
owner.add_command(owner_invite)


@owner.command("create")
@click.argument("owner_id")
@click.option("--name", default="", help="Name to show.")
@click.option("--zone", default=DEFAULT_ZONE, show_default=True, help="IANA time zone, such as Europe/Paris.")
def owner_create(owner_id: str, name: str, zone: str) -> None:
    """Make an owner and print an API key and a webhook key, which can't be had again."""
    if not owner_id.strip() or not owner_id.isprintable():
        raise click.BadParameter("must be a name", param_hint="OWNER_ID")
    try:
        check_zone(zone)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--zone") from error
    database = open_database(settings())
    require_ready(database)
    try:
        key_store.add_user(database, owner_id, name or owner_id)
    except Duplicate as error:
        raise click.ClickException(f"There is an owner {owner_id} already.") from error
    set_zone(database, owner_id, zone)
    for kind in ("api", "webhook"):
        _, key = keys.create(database, owner_id, kind, "first")
        click.echo(f"{kind} key: {key}")
    database.close()
