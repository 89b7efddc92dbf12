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
_PART = re.compile(r"\{([a-z_]+)\}")
PARTS = {"table": "meta", "key": "name", "columns": "name, value", "texts": "name, value"}
"""Examples for the parts that are whole names."""
_PLACEHOLDER = re.compile(r"(?<![:\w]):[a-z_]+")


def example(statement: Statement, value: str = "'x'") -> str:
    """SQL of `statement` with `value` for every value."""
    return _PART.sub(lambda part: PARTS.get(part[1], SLOT), _PLACEHOLDER.sub(value, statement.text))


def source_files() -> list[Path]:
    """All of the product's Python."""
    return [path for folder in ("layers", "functions") for path in sorted((ROOT / folder).rglob("*.py"))]
