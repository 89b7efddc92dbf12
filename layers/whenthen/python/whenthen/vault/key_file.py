"""A key in a file, for everything that does not run on AWS."""

import base64
import hashlib
import os
from pathlib import Path

from whenthen.errors import NotConfigured
from whenthen.vault.errors import KeysUnavailable, SealBroken
from whenthen.vault.place import Place

_KEY_BYTES = 32
_NAME_BYTES = 8


def make_key_file(path: Path) -> None:
    """Write a new key, readable by its owner alone, unless there is a file already."""
    text = base64.b64encode(os.urandom(_KEY_BYTES)).decode() + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        # Unlike a rename it leaves the file of another process that was faster.
        path.hardlink_to(unfinished)
    except FileExistsError:
        pass
    finally:
        unfinished.unlink()


class FileKeys:
    """The one key of a file. It is read when it is first needed.

    Parameters
    ----------
    path:
        32 bytes in base64, see `make_key_file`.
    """

    kind = "file"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[str, bytes] | None = None

    def fresh(self, place: Place) -> tuple[str, bytes]:  # noqa: ARG002 - one key for all places
        """See `DataKeys.fresh`."""
        if self._known is None:
            self._known = self._read()
        return self._known

    def find(self, name: str, place: Place) -> bytes:
        """See `DataKeys.find`."""
        try:
            known, key = self.fresh(place)
        except NotConfigured as error:
            # Put back, the file opens everything again.
            raise KeysUnavailable(str(error)) from error
        if name != known:
            raise SealBroken("It was sealed with another key than the one that whenthen has now.")
        return key

    def _read(self) -> tuple[str, bytes]:
        try:
            key = base64.b64decode(self._path.read_text("ascii").strip(), validate=True)
        except FileNotFoundError as error:
            raise NotConfigured(
                f"There is no key for secrets: set WHENTHEN_KMS_KEY_ID, or put the key file at {self._path} "
                "(WHENTHEN_SECRETS_KEY_FILE)."
            ) from error
        except (OSError, ValueError) as error:
            raise NotConfigured(f"The key file {self._path} (WHENTHEN_SECRETS_KEY_FILE) can't be read.") from error
        if len(key) != _KEY_BYTES:
            raise NotConfigured(f"The key file {self._path} (WHENTHEN_SECRETS_KEY_FILE) does not hold a key.")
        return hashlib.sha256(key).hexdigest()[: 2 * _NAME_BYTES], key
