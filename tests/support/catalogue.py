"""Every statement that whenthen can send, and the source files that could send one past the catalogue."""

import re
from pathlib import Path

from tests.support.processes import ROOT
from whenthen.store.migrations import SCHEMA
from whenthen.store.statements import Statement, load

STORE = ROOT / "layers" / "whenthen" / "python" / "whenthen" / "store"
FILES = sorted(path.stem for path in (STORE / "sql" / "statements").glob("*.sql"))
CATALOGUE: dict[str, list[Statement]] = {name: list(load(name).values()) for name in FILES}
"""The statements by the stem of their file."""

STATEMENTS = [statement for statements in CATALOGUE.values() for statement in statements]
SCHEMA_STATEMENTS = [statement for statements in SCHEMA.values() for statement in statements]

SLOT = "202601312330"
_PLACEHOLDER = re.compile(r"(?<![:\w]):[a-z_]+")


def example(statement: Statement, value: str = "'x'") -> str:
    """SQL of `statement` with `value` for every value."""
    return _PLACEHOLDER.sub(value, statement.text).replace("{slot}", SLOT)


def source_files() -> list[Path]:
    """All of the product's Python."""
    return [path for folder in ("layers", "functions") for path in sorted((ROOT / folder).rglob("*.py"))]
