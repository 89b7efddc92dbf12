"""Sealing and opening texts.

A sealed text is ``v1.<kind of keys>.<name of the key>.<nonce and ciphertext>``, the last in URL-safe base64: it says
what opens it, so that keys can be changed while older texts still open.
"""

import base64
import os
from collections.abc import Sequence
from typing import Protocol

from whenthen.vault.errors import SealBroken
from whenthen.vault.place import Place

_VERSION = "v1"
_NONCE_BYTES = 12
"""A random nonce is safe for 2**32 texts a key (NIST SP 800-38D, 8.3)."""


class DataKeys(Protocol):
    """Where keys of 256 bits come from."""

    kind: str
    """A word of letters that stands in sealed texts."""

    def fresh(self, place: Place) -> tuple[str, bytes]:
        """Return the name, without a dot, and the bytes of a key to seal with.

        Raises
        ------
        NotConfigured
            There is none.
        KeysUnavailable
            It can't be had now.
        """
        ...

    def find(self, name: str, place: Place) -> bytes:
        """Return the key of this name.

        Raises
        ------
        SealBroken
            There is none, or it is not one for this place.
        KeysUnavailable
            It can't be had now.
        """
        ...


class Keyring:
    """Seals texts, and opens them.

    Parameters
    ----------
    seals_with:
        Where the keys of new texts come from.
    opens_with:
        Where keys of texts may come from besides.
    """

    def __init__(self, seals_with: DataKeys, *opens_with: DataKeys) -> None:
        self._seals_with = seals_with
        self._opens_with = {keys.kind: keys for keys in (*opens_with, seals_with)}

    def seal(self, text: str, place: Place) -> str:
        """Return `text` sealed for `place`. Raises as `DataKeys.fresh`."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        name, key = self._seals_with.fresh(place)
        nonce = os.urandom(_NONCE_BYTES)
        encrypted = AESGCM(key).encrypt(nonce, text.encode(), place.associated_data())
        return ".".join((_VERSION, self._seals_with.kind, name, base64.urlsafe_b64encode(nonce + encrypted).decode()))

    def open(self, sealed: str, place: Place) -> str:
        """Return the text that was sealed for `place`. Raises as `DataKeys.find`."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        keys, name, encrypted = self._split(sealed)
        try:
            text = AESGCM(keys.find(name, place)).decrypt(
                encrypted[:_NONCE_BYTES], encrypted[_NONCE_BYTES:], place.associated_data()
            )
        except (InvalidTag, ValueError) as error:
            raise SealBroken from error
        return text.decode()

    def _split(self, sealed: str) -> tuple[DataKeys, str, bytes]:
        parts: Sequence[str] = sealed.split(".")
        if len(parts) != 4 or parts[0] != _VERSION:
            raise SealBroken
        _, kind, name, encoded = parts
        if kind not in self._opens_with:
            raise SealBroken(f"It was sealed with a key of another kind ({kind}) than whenthen has now.")
        try:
            return self._opens_with[kind], name, base64.b64decode(encoded, b"-_", validate=True)
        except ValueError as error:
            raise SealBroken from error
