"""Secrets at rest: encrypted with AES-256-GCM, and bound to the row they stand in.

The ciphers and AWS are loaded on first use: the cold start of the trigger function is a product feature.
"""

from whenthen.vault.errors import KeysUnavailable, SealBroken
from whenthen.vault.key_file import FileKeys, make_key_file
from whenthen.vault.keyring import DataKeys, Keyring
from whenthen.vault.kms import KmsKeys
from whenthen.vault.place import Place

__all__ = ["DataKeys", "FileKeys", "Keyring", "KeysUnavailable", "KmsKeys", "Place", "SealBroken", "make_key_file"]
