"""`whenthen status`, `whenthen doctor` and `whenthen activity`: how it all stands, for whoever runs it."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click

from whenthen.cli import pages
from whenthen.clock import now_ms
from whenthen.engine.activity import MAX_PAGE, read_activity
from whenthen.engine.applets import applet_names
from whenthen.errors import FieldError, NotConfigured, WhenthenError
from whenthen.queues.depth import Depth, depth_of_directory, depth_of_sqs
from whenthen.queues.memory import MemoryQueue
from whenthen.servers import open_database, open_history, open_hosts
from whenthen.settings import Settings, settings
from whenthen.store.database import Database
from whenthen.store.executions import State
from whenthen.store.keys import list_users
from whenthen.store.log import Filters
from whenthen.wiring import Runtime

if TYPE_CHECKING:
    from whenthen.engine.doctor import Report


def require_server(here: Settings) -> None:
    """Refuse the engine in this process, whose file the running process holds.

    Raises
    ------
    NotConfigured
        ALOPEX_URL is not set.
    """
    if not here.alopex_url:
        raise NotConfigured(
            "ALOPEX_URL is not set: the database in WHENTHEN_HOME belongs to the running `whenthen run`"
        )


@contextmanager
def open_runtime() -> Iterator[Runtime]:
    """Open what the settings name, for one command. Where no queue of wake-ups is set, they go nowhere.

    Raises
    ------
    NotConfigured
        See `require_server`.
    NotReady
        A database is not migrated, or lacks the single-flight proof.
    """
    here = settings()
    require_server(here)
    runtime = Runtime(here, wakeups=None if here.wakeup_queue_url else MemoryQueue(), check_orders=MemoryQueue())
    history = runtime.history
    try:
        yield runtime
    finally:
        history.log.close()
        history.hot.close()


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@click.pass_context
def status(context: click.Context, *, as_json: bool) -> None:
    """Say how everything stands. Ends with 1 when somebody has to look after something."""
    from whenthen.engine.status import read_status

    here = settings()
    require_server(here)
    hosts = open_hosts(here)
    openers: tuple[Callable[[Settings], Database], ...] = (open_database, open_history)
    databases = [opener(here) for opener in openers[: len(hosts)]]
    try:
        found = read_status(databases, hosts, lambda: _intake(here), now=now_ms())
    finally:
        for database in databases:
            database.close()
    if as_json:
        click.echo(json.dumps(pages.status_json(found), indent=2))
    else:
        click.echo(f"whenthen at {here.alopex_url}\n")
        click.echo("\n".join(pages.status(found)))
    context.exit(1 if found.attention else 0)


def _intake(here: Settings) -> Depth | None:
    if here.intake_queue_url:
        return depth_of_sqs(here.intake_queue_url)
    # Where `whenthen run` keeps it.
    directory = here.home / "intake"
    return depth_of_directory(directory) if directory.exists() else None


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Repair what can be repaired without guessing.")
@click.option(
    "--days",
    default=1,
    show_default=True,
    type=click.IntRange(1, 90),
    help="Follow the events of the last so many days to their executions.",
)
@click.pass_context
def doctor(context: click.Context, *, fix: bool, days: int) -> None:
    """Find what can't be: events, executions, triggers and slots that do not fit together. Say why it matters.

    Reads whole tables: for some seconds, a minute with two million events, everybody waits for the database again and
    again, half a second at a time. Run it when something is wrong, not by the clock. Ends with 1 when something is
    left to do.
    """
    from whenthen.engine.doctor import Practice, examine

    with open_runtime() as runtime, closing(runtime.worker) as worker:

        def look() -> "Report":
            report = examine(Practice(runtime.history, runtime.wakeups, runtime.checks, worker, now_ms()), days=days)
            for found in report.findings:
                click.echo("\n".join(pages.finding(found)) + "\n")
            for note in report.notes:
                click.echo(f"{note}\n")
            return report

        report = look()
        if fix and any(found.repair for found in report.findings):
            _repair(report)
            click.echo("\nWhat is left:\n")
            report = look()
        if not report.findings:
            click.echo("Nothing found.")
        context.exit(1 if report.findings else 0)


def _repair(report: "Report") -> None:
    for found in report.findings:
        if found.repair is None:
            continue
        try:
            done = found.repair()
        except WhenthenError as error:
            done = [f"not repaired: {found.kind}: {error}"]
        click.echo("\n".join(pages.plain(line) for line in done))


@click.command("activity")
@click.option("--owner", default="", help="Whose; not needed where there is one owner.")
@click.option("--applet", default="", help="Only of the applet with this id.")
@click.option("--state", type=click.Choice([state.value for state in State]), help="Only in this state.")
@click.option("--service", default="", help="Only where this service was the trigger's or decided how it ended.")
@click.option("--text", default="", help="Only with this in the reason.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, MAX_PAGE))
@click.option("--before", default=None, help="The cursor that the page before has ended with.")
@click.option("--json", "as_json", is_flag=True, help="As the management API has it.")
def activity(
    *,
    owner: str,
    applet: str,
    state: str | None,
    service: str,
    text: str,
    limit: int,
    before: str | None,
    as_json: bool,
) -> None:
    """Print what ran, newest first, wherever it stands by now.

    The database is read for a second and a half at most, so a page may be short, or empty, and still have a next one.
    """
    from whenthen.web.views import activity_item

    with open_runtime() as runtime:
        database = runtime.database
        owner = _owner(database, owner)
        try:
            page = read_activity(
                runtime.history, owner, Filters(applet, state or "", service, text), limit=limit, before=before
            )
        except FieldError as error:
            raise click.BadParameter(error.message, param_hint="--before") from error
        names = applet_names(database, owner, {item.applet_id for item in page.items})
    if as_json:
        document = {"items": [activity_item(item, names) for item in page.items], "next": page.next}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    click.echo("\n".join(pages.activity(page.items, names)) if page.items else "Nothing.")
    if page.next:
        click.echo(f"\nMore: --before {page.next}")


def _owner(database: Database, wanted: str) -> str:
    owners = list_users(database)
    if wanted and wanted not in owners:
        raise click.BadParameter(f"there is no owner {wanted}", param_hint="--owner")
    if not wanted and len(owners) != 1:
        raise click.BadParameter(f"is one of {', '.join(owners) or 'none so far'}", param_hint="--owner")
    return wanted or owners[0]
