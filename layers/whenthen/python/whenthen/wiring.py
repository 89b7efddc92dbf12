"""The one place where the parts are put together."""

import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from whenthen.engine.intake import Intake
from whenthen.errors import NotConfigured
from whenthen.queues import Queue
from whenthen.queues.sqs import SqsQueue
from whenthen.servers import open_database, open_history, open_hosts
from whenthen.settings import Settings
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.history import History
from whenthen.store.meta import Trusted, require_ready

if TYPE_CHECKING:
    from whenthen.engine.checks import Checks
    from whenthen.engine.connections.accounts import Accounts
    from whenthen.engine.connections.keeping import Connections
    from whenthen.engine.connections.oauth import Authorizations
    from whenthen.engine.housekeeping import Housekeeping
    from whenthen.engine.users import Users
    from whenthen.engine.worker import Worker
    from whenthen.net import GuardedClient
    from whenthen.vault import Keyring


class Runtime:
    """What a function works with; each part is made when it is first needed.

    Parameters
    ----------
    settings:
        The environment's.
    database, wakeups, arrivals, check_orders:
        Given by the local run and by tests; otherwise made from the settings.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        database: Database | None = None,
        wakeups: Queue | None = None,
        arrivals: Queue | None = None,
        check_orders: Queue | None = None,
    ) -> None:
        self.settings = settings
        self._given_database = database
        self._given_wakeups = wakeups
        self._given_arrivals = arrivals
        self._given_check_orders = check_orders
        self._ready = False
        self._ready_lock = threading.Lock()

    @cached_property
    def _database(self) -> Database:
        if self._given_database is not None:
            return self._given_database
        if not self.settings.alopex_url:
            raise NotConfigured("ALOPEX_URL is not set")
        return open_database(self.settings)

    @property
    def database(self) -> Database:
        """The database, after it has shown once that it can be trusted.

        Raises
        ------
        NotReady
            It is not migrated or lacks the single-flight proof.
        StoreError
            It can't be asked now.
        """
        return self._ready_database(DEFAULT_TIMEOUT_SECONDS)

    def _ready_database(self, timeout_seconds: float) -> Database:
        if not self._ready:
            with self._ready_lock:
                require_ready(self._database, timeout_seconds=timeout_seconds)
                self._ready = True
        return self._database

    @cached_property
    def history(self) -> History:
        """The database with the log of its executions. Raises as `database`."""
        url = self.settings.alopex_history_url
        log = self.database
        if url and url != self.settings.alopex_url:
            # Asked when it is needed: a history that is down holds up nothing else.
            log = Trusted(open_history(self.settings), other=self.database)
        copy_dir = Path(self.settings.copy_dir)
        if log.embedded:
            copy_dir = self.settings.home.resolve() / "copy"
            copy_dir.mkdir(parents=True, exist_ok=True)
        return History(self.database, log, str(copy_dir / "load.parquet"))

    @cached_property
    def wakeups(self) -> Queue:
        """The queue that wakes the worker."""
        return self._given_wakeups or _queue("WHENTHEN_WAKEUP_QUEUE_URL", self.settings.wakeup_queue_url)

    @cached_property
    def arrivals(self) -> Queue:
        """The queue for what the database could not take."""
        return self._given_arrivals or _queue("WHENTHEN_INTAKE_QUEUE_URL", self.settings.intake_queue_url)

    @cached_property
    def check_orders(self) -> Queue:
        """The queue of the checks that the tick passes on."""
        return self._given_check_orders or _queue("WHENTHEN_CHECK_QUEUE_URL", self.settings.check_queue_url)

    @cached_property
    def intake(self) -> Intake:
        """Reserves arrivals. Raises as `database`, but sooner: a webhook does not wait for long."""
        return Intake(self._ready_database(self.settings.intake_timeout_seconds), self.wakeups)

    @cached_property
    def keyring(self) -> "Keyring":
        """Seals and opens secrets. Nothing is read before it is needed."""
        from whenthen.vault import FileKeys, Keyring, KmsKeys

        file_keys = FileKeys(self.settings.secrets_key_path)
        if not self.settings.kms_key_id:
            return Keyring(file_keys)
        return Keyring(KmsKeys(self.settings.kms_key_id), file_keys)

    @cached_property
    def accounts(self) -> "Accounts":
        """Opens connections. Raises as `database`."""
        from whenthen.engine.connections.accounts import Accounts

        return Accounts(self.database, self.keyring, self._make_client)

    @cached_property
    def connections(self) -> "Connections":
        """Connections, as their owners deal with them. Raises as `database`."""
        from whenthen.engine.connections.keeping import Connections

        return Connections(self.database, self.keyring, self._make_client, self.accounts)

    @cached_property
    def authorizations(self) -> "Authorizations":
        """Starts and finishes OAuth. Raises as `database`."""
        from whenthen.engine.connections.oauth import Authorizations

        return Authorizations(self.database, self.keyring, self._make_client, self.connections, self.accounts)

    @cached_property
    def users(self) -> "Users":
        """The console's users. Raises as `database`."""
        from whenthen.engine.users import Users

        return Users(self.database, self.keyring)

    def _make_client(self) -> "GuardedClient":
        from whenthen.net import GuardedClient

        return GuardedClient(
            allowed_networks=self.settings.allowed_networks,
            timeout_seconds=self.settings.action_timeout_seconds,
        )

    @cached_property
    def worker(self) -> "Worker":
        """Does executions. Raises as `database`."""
        from whenthen.engine.performing import Performer
        from whenthen.engine.worker import Worker

        return Worker(
            self.database,
            self.wakeups,
            Performer(self.database, self._make_client(), self.accounts),
            action_timeout_seconds=self.settings.action_timeout_seconds,
        )

    @cached_property
    def checks(self) -> "Checks":
        """Checks triggers. Raises as `database`."""
        from whenthen.engine.checker import Checker
        from whenthen.engine.checks import Checks
        from whenthen.engine.owned import StoredData
        from whenthen.engine.sources import Sources
        from whenthen.net import GuardedClient
        from whenthen.services.documents import MAX_DOCUMENT_BYTES

        client = GuardedClient(
            allowed_networks=self.settings.allowed_networks,
            timeout_seconds=self.settings.check_timeout_seconds,
            max_response_bytes=MAX_DOCUMENT_BYTES,
        )
        sources = Sources(
            client,
            timeout_seconds=self.settings.check_timeout_seconds,
            service_urls={"weather": self.settings.weather_url},
            owned=lambda owner_id: StoredData(self.database, owner_id),
            accounts=lambda: self.accounts,
        )
        return Checks(self.database, lambda: self.check_orders, Checker(self.database, self.wakeups, sources))

    @cached_property
    def housekeeping(self) -> "Housekeeping":
        """Keeps the hosts of the database's servers. Raises as `database`."""
        from whenthen.engine.housekeeping import Housekeeping

        return Housekeeping(self.database, open_hosts(self.settings))


def _queue(name: str, url: str) -> Queue:
    if not url:
        raise NotConfigured(f"{name} is not set")
    return SqsQueue(url)
