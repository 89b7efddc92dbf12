"""Keys wrapped by AWS KMS: each text has a key of its own, which only KMS can unwrap, and for its place alone."""

import base64
import threading
from collections import OrderedDict
from functools import cached_property
from typing import Any

from whenthen.vault.errors import KeysUnavailable, SealBroken
from whenthen.vault.place import Place

_REMEMBERED = 256
_TIMEOUT_SECONDS = 3
_TRIES = 3

_BROKEN = {"InvalidCiphertextException", "IncorrectKeyException"}


class KmsKeys:
    """Data keys of a KMS key. Unwrapped ones are remembered in this process, so that opening rarely asks KMS.

    Parameters
    ----------
    key_id:
        Id, ARN or alias of the KMS key.
    """

    kind = "kms"

    def __init__(self, key_id: str) -> None:
        self._key_id = key_id
        self._known: OrderedDict[tuple[str, Place], bytes] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def _client(self) -> Any:
        # 140 ms that only a function with secrets to open is to pay.
        import boto3
        from botocore.config import Config

        config = Config(
            connect_timeout=_TIMEOUT_SECONDS,
            read_timeout=_TIMEOUT_SECONDS,
            retries={"mode": "standard", "total_max_attempts": _TRIES},
        )
        return boto3.client("kms", config=config)

    def fresh(self, place: Place) -> tuple[str, bytes]:
        """See `DataKeys.fresh`."""
        made = self._ask("generate_data_key", place, KeyId=self._key_id, KeySpec="AES_256")
        name = base64.urlsafe_b64encode(made["CiphertextBlob"]).decode()
        self._remember(name, place, made["Plaintext"])
        return name, made["Plaintext"]

    def find(self, name: str, place: Place) -> bytes:
        """See `DataKeys.find`."""
        with self._lock:
            if (known := self._known.get((name, place))) is not None:
                self._known.move_to_end((name, place))
                return known
        try:
            wrapped = base64.b64decode(name, b"-_", validate=True)
        except ValueError as error:
            raise SealBroken from error
        key: bytes = self._ask("decrypt", place, CiphertextBlob=wrapped)["Plaintext"]
        self._remember(name, place, key)
        return key

    def _ask(self, operation: str, place: Place, **parameters: Any) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            with self._lock:
                client = self._client
            answer: dict[str, Any] = getattr(client, operation)(EncryptionContext=place.context(), **parameters)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in _BROKEN:
                raise SealBroken from error
            raise KeysUnavailable(f"KMS does not give the key for secrets ({code}).") from error
        except BotoCoreError as error:
            raise KeysUnavailable(f"KMS can't be asked for the key for secrets ({type(error).__name__}).") from error
        return answer

    def _remember(self, name: str, place: Place, key: bytes) -> None:
        with self._lock:
            self._known[name, place] = key
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
