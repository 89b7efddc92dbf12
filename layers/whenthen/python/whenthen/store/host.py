"""The machine that a database server runs on: how full it is, and the export that makes room (ALOPEX.md 9).

Both are plain requests to addresses from the settings. `net.GuardedClient` is for URLs that people and partners give
us; it would refuse the private network that a database lives in.
"""

import ssl
from collections.abc import Callable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whenthen.clock import from_datetime, now_ms
from whenthen.store.database import connect, translate
from whenthen.store.errors import OutcomeUnknown, StoreError, Unreachable

REPORT_TIMEOUT_SECONDS = 5.0


class HostReport(BaseModel):
    """What `ops/alopex/host-report` has measured: bytes, counts of files, and when, in epoch milliseconds.

    `wal_bytes` is what was written since the last checkpoint, and the server refuses writes at `wal_limit`.
    `asked_at` is the host's clock when the report was read, so that the two times may be compared.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    measured_at: int = Field(ge=0)
    wal_bytes: int = Field(ge=0)
    wal_limit: int = Field(gt=0)
    sst_bytes: int = Field(ge=0)
    sst_files: int = Field(ge=0)
    exports: int = Field(ge=0)
    export_bytes: int = Field(ge=0)
    disk_free_bytes: int = Field(ge=0)
    asked_at: int = Field(0, exclude=True)

    @property
    def age_seconds(self) -> float:
        """How old the report was when it was read."""
        return max(self.asked_at - self.measured_at, 0) / 1000


class Host:
    """The host of one server.

    Parameters
    ----------
    name:
        Which server it is, for messages and for the row that guards its exports.
    url:
        The server's, as for `store.database.connect`.
    report:
        Path or URL of the host's report; empty for ``host.json`` at `url`, which the front serves.
    read_key:
        Returns the server's key as it is now.
    ca_file:
        PEM file of a private authority that signed the server's certificate, or None for the system's.

    Raises
    ------
    ValueError
        `url` is none that a key may travel to.
    """

    def __init__(
        self, name: str, url: str, *, report: str = "", read_key: Callable[[], str], ca_file: Path | None = None
    ) -> None:
        # The database's client knows such URLs. It opens no socket for this.
        connect(url).close()
        self.name = name
        self._url = url.rstrip("/")
        self._report = report or f"{self._url}/host.json"
        self._read_key = read_key
        self._ca_file = ca_file

    def read_report(self) -> HostReport:
        """Return the host's last report, however old.

        Raises
        ------
        Unreachable
            The host can't be asked.
        StoreError
            There is no report, or none that can be read; the message says why.
        """
        if self._report.startswith(("http://", "https://")):
            answer = self._ask("GET", self._report, {}, REPORT_TIMEOUT_SECONDS)
            text, asked_at = answer.content, _date(answer)
        else:
            try:
                text, asked_at = Path(self._report).read_bytes(), now_ms()
            except OSError as error:
                raise StoreError(f"{self._report} can't be read: {error.strerror}") from error
        try:
            report = HostReport.model_validate_json(text)
        except ValidationError as error:
            raise StoreError(f"{self._report} is no report: {error.errors()[0]['msg']}") from error
        return report.model_copy(update={"asked_at": asked_at})

    def export(self, *, timeout_seconds: float) -> str:
        """Let the server checkpoint and copy its data directory, while everybody waits for it.

        The server does it to its end also when its answer is not waited for. Returns the copy's path on the host.

        Raises
        ------
        StoreError
            One of the classes in `store.errors`; the log may be free all the same, since the checkpoint comes first.
        """
        answer = self._ask("POST", f"{self._url}/api/admin/export", {"x-api-key": self._read_key()}, timeout_seconds)
        try:
            return str(answer.json()["location"])
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self._url} did not say where its export is") from error

    def _ask(self, method: str, url: str, headers: dict[str, str], timeout_seconds: float) -> httpx2.Response:
        verify = ssl.create_default_context(cafile=self._ca_file) if url.startswith("https://") else True
        try:
            answer = httpx2.request(
                method, url, headers=headers, timeout=timeout_seconds, trust_env=False, verify=verify
            )
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL) as error:
            raise Unreachable(f"{url} can't be reached: {error}") from error
        except httpx2.HTTPError as error:
            raise OutcomeUnknown(f"{url} did not answer: {type(error).__name__}") from error
        if answer.status_code != httpx2.codes.OK:
            raise translate(_Refusal(answer))
        return answer


class _Refusal(Exception):
    """An answer that is no success, in the form of the database's client."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.http_status = answer.status_code
        # Its code for what is not in the server's form, and its words.
        self.code = "ALOPEX-PY203"
        message = f"server returned HTTP {answer.status_code}"
        with suppress(ValueError, KeyError, TypeError):
            told = answer.json()["error"]
            self.code, message = str(told["code"]), str(told["message"])
        super().__init__(message)


def _date(answer: httpx2.Response) -> int:
    """Return the answering host's clock, epoch milliseconds; the end of the second that the header names."""
    try:
        return from_datetime(parsedate_to_datetime(answer.headers["Date"])) + 999
    except (KeyError, ValueError):
        return now_ms()
