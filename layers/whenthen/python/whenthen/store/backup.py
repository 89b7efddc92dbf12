"""Backups: exports of a server, copied and checked. An export opens as a data directory (ALOPEX.md 9)."""

import fcntl
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, ValidationError

from whenthen.store.errors import NotReady

MANIFEST = "snapshot.manifest"
"""The server's own list of what belongs to an export; it is written last."""

RECORD = "whenthen.json"
"""What we know of a backup besides."""

_LOCK = ".alopex.lock"
_LOG = "lsm.wal"
"""Empty after the checkpoint that an export begins with. Where it is missing the server makes another."""
_BLOCK = 1024 * 1024


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    path: str
    size: int
    crc32: int


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    version: int
    entries: tuple[_Entry, ...]


class Record(BaseModel):
    """What is told of a backup: the schema's version, and when it was asked for, RFC 3339."""

    model_config = ConfigDict(frozen=True, strict=True)

    schema_version: int
    made_at: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A directory that was copied and is whole: how many files, and their bytes."""

    files: int
    size: int


def save(export: Path, backup: Path, record: Record) -> Checked:
    """Copy an export to `backup`, checked, with its record.

    Raises
    ------
    NotReady
        The export is not whole, or `backup` is there already.
    OSError
        A file can't be read or written.
    """
    if backup.exists():
        raise NotReady(f"{backup} is there already.")
    with _unfinished(backup) as part:
        checked = _copy(export, part)
        (part / MANIFEST).write_bytes((export / MANIFEST).read_bytes())
        (part / RECORD).write_text(record.model_dump_json())
    return checked


def restore(backup: Path, data_dir: Path) -> Checked:
    """Copy a backup, or an export as the server has left it, to a data directory, checked. It is whole or not there.

    Raises
    ------
    NotReady
        The backup is not whole; the directory is not empty, or a server is running on it.
    OSError
        A file can't be read or written.
    """
    _require_empty(data_dir)
    with _unfinished(data_dir) as part:
        return _copy(backup, part)


def read_record(backup: Path) -> Record | None:
    """Return the record of a backup; an export that was fetched by hand has none."""
    try:
        return Record.model_validate_json((backup / RECORD).read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise NotReady(f"{backup / RECORD} can't be read: {error.errors()[0]['msg']}") from error


@contextmanager
def _unfinished(directory: Path) -> Iterator[Path]:
    """A directory that becomes `directory` at the end, or goes: half a copy must not look like a whole one."""
    part = directory.with_name(f"{directory.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        part.rename(directory)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _require_empty(data_dir: Path) -> None:
    lock = data_dir / _LOCK
    if lock.exists():
        with lock.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise NotReady(f"A server is running on {data_dir}.") from error
    if data_dir.exists() and any(data_dir.iterdir()):
        raise NotReady(f"{data_dir} is not empty: move what is there aside first.")


def _copy(source: Path, target: Path) -> Checked:
    """Copy what the manifest of `source` lists, and nothing else, and check it against sizes and sums."""
    try:
        manifest = _Manifest.model_validate_json((source / MANIFEST).read_bytes())
    except FileNotFoundError as error:
        raise NotReady(f"{source} is no whole export: it has no {MANIFEST}.") from error
    except ValidationError as error:
        raise NotReady(f"{source / MANIFEST} can't be read: {error.errors()[0]['msg']}") from error
    if manifest.version != 1:
        raise NotReady(f"{source / MANIFEST} is of version {manifest.version}, which is not known here.")
    for entry in manifest.entries:
        path = PurePosixPath(entry.path)
        if path.is_absolute() or ".." in path.parts:
            raise NotReady(f"{source / MANIFEST} names {entry.path}, which is outside.")
        if entry.path != _LOG or (source / path).exists():
            _copy_file(source / path, target / path, entry)
    return Checked(len(manifest.entries), sum(entry.size for entry in manifest.entries))


def _copy_file(source: Path, target: Path, entry: _Entry) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    size = checksum = 0
    try:
        with source.open("rb") as reading, target.open("wb") as writing:
            while block := reading.read(_BLOCK):
                size += len(block)
                checksum = zlib.crc32(block, checksum)
                if block.strip(b"\0"):
                    writing.write(block)
                else:
                    # The log file is 512 MiB of nearly nothing.
                    writing.seek(size)
            writing.truncate(size)
            writing.flush()
            os.fsync(writing.fileno())
    except FileNotFoundError as error:
        raise NotReady(f"{source} is missing.") from error
    if (size, checksum) != (entry.size, entry.crc32):
        raise NotReady(
            f"{source} is damaged: {size} bytes with the sum {checksum}, not {entry.size} with {entry.crc32}."
        )
