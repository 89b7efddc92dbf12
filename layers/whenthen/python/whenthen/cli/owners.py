"""`whenthen owner erase` and `whenthen owner invite`."""

from contextlib import closing

import click

from whenthen.cli.operators import require_server
from whenthen.engine.erasure import request_erasure
from whenthen.engine.users.invitations import invite
from whenthen.errors import FieldError, NotFound
from whenthen.servers import open_database
from whenthen.settings import Settings, settings
from whenthen.store.applets import list_applets
from whenthen.store.keys import list_keys, list_users
from whenthen.store.meta import require_ready
from whenthen.store.owners import list_erased

_GOES = """\
At once: the keys and the console's users, so that nothing of {owner} is let in any more, and the applets, so that
nothing runs any more.
By the poller, within about two hours: what came with events and what actions sent and got, the activity, the
statistics, names, the texts of applets and triggers, the inbox. Executions of the last hour and a half are waited for;
those that still wait for another try end first.
"""

_STAYS = """\
What can't be erased:
- the ids of events, triggers, applets and executions: hashes and random numbers, so that nothing runs twice; and the
  name {owner} itself beside them
- the bytes in the database's files, which are only ever added to, until `whenthen db rebuild`
- exports and backups that were made before: delete them where they are
- what the targets of actions have received
- the functions' logs, until they expire
"""


@click.command("erase")
@click.argument("owner_id")
@click.option("--yes", is_flag=True, help="Do not ask.")
def owner_erase(owner_id: str, *, yes: bool) -> None:
    """Erase all that is kept of an owner, as far as that can be. It can't be undone."""
    here = settings()
    require_server(here)
    with closing(open_database(here)) as database:
        require_ready(database)
        if owner_id not in list_users(database):
            raise NotFound(f"There is no owner {owner_id}.")
        keys, applets = len(list_keys(database, owner_id)), len(list_applets(database, owner_id))
        click.echo(f"Of {owner_id} there are {keys} keys, {applets} applets, and all that these have run.\n")
        click.echo(_GOES.format(owner=owner_id))
        click.echo(_STAYS.format(owner=owner_id))
        if not yes:
            click.confirm(f"Erase {owner_id}?", abort=True)
        request_erasure(database, owner_id)
    click.echo(f"{owner_id} is being erased: the poller does the rest. Run it again if it breaks off.")


@click.command("invite")
@click.argument("name")
@click.option("--owner", "owner_id", default="", help="Whose data they see; a new owner's unless you say whose.")
@click.option("--admin", is_flag=True, help="They may invite and disable others. The first user always may.")
def owner_invite(name: str, owner_id: str, *, admin: bool) -> None:
    """Print a link with which NAME chooses a password for the console, also when the last one is lost.

    It is valid for 7 days, once. A password that NAME has goes on working until then. Stop `whenthen run` meanwhile if
    the database is the one in WHENTHEN_HOME.
    """
    here = settings()
    with closing(open_database(here)) as database:
        require_ready(database)
        if owner_id and owner_id not in set(list_users(database)) - list_erased(database):
            raise NotFound(f"There is no owner {owner_id}.")
        try:
            token = invite(database, name, owner_id=owner_id, is_admin=admin)
        except FieldError as error:
            raise click.BadParameter(error.message, param_hint="NAME") from error
    click.echo(f"{_base_url(here)}/invitations/{token}")


def _base_url(here: Settings) -> str:
    return (here.public_url or f"http://{here.host}:{here.port}").rstrip("/")
