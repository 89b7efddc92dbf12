"""The catalogue of every statement that whenthen sends, read from ``sql/statements/*.sql``.

A statement stands under a line ``-- name: what_it_does``, and the lines of comment below it say why it has
its shape. ``:value`` is a literal and ``{place}`` a part of a table's name. Nothing else builds SQL, so the
shape test over this catalogue covers all that the store can send. What copies whole databases knows its tables from the
database alone: it alone has ``{table}``, ``{key}``, ``{columns}`` and ``{texts}``, which are whole names.
"""

import json
import re
from collections.abc import Iterator
from importlib import resources

from whenthen.store.errors import ScriptTooLong
from whenthen.store.literals import SqlValue, literal

MAX_SCRIPT_BYTES = 1024 * 1024
"""The most SQL text the database takes in one request (ALOPEX.md 3), and the most of what it parses it to."""

MAX_REQUEST_BYTES = 2 * 1024 * 1024
"""The largest JSON body that the server and its front take; the client writes it in ASCII."""

MAX_AST_VALUES = 65_536
"""The most values that the parser's tree may have."""

MAX_SELECTS = 100
"""The most selects in a `Script.union`. Between 200 and 300 the whole server dies (measured)."""

# What a statement takes of the parser's tree (measured, and checked by a test on the engine): a name or value
# in it at most 45 values, the statement itself 120, a value at most 6 bytes beside its text.
_VALUES_PER_LEAF = 45
_VALUES_PER_STATEMENT = 120
_BYTES_PER_VALUE = 6
_LEAF = re.compile(r"'[^']*'|:?\b[a-z0-9][a-z0-9_{}]*|\b(?:COUNT|MAX|SUM)(?=\()")
_NO_LEAVES = re.compile(r"(?<=^INSERT INTO )\S+\s+\([^)]*\)|\bAS [a-z_]+")

# The request's JSON around the SQL, with room to spare.
_ENVELOPE_BYTES = 100

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n?", re.MULTILINE)
_PLACEHOLDER = re.compile(r"(?<![:\w]):([a-z_]+)|\{([a-z_]+)\}")
_TABLE_PART = re.compile(r"[0-9]{4,14}|waiting")
_WHOLE_NAME = re.compile(r"[a-z][a-z0-9_]*")
_WHOLE_NAMES = re.compile(r"[a-z][a-z0-9_]*(?:, [a-z][a-z0-9_]*)*")
_WHOLE_PARTS = {"table": _WHOLE_NAME, "key": _WHOLE_NAME, "columns": _WHOLE_NAMES, "texts": _WHOLE_NAMES}


class Statement:
    """One statement with places for values.

    Parameters
    ----------
    name:
        Its name in the catalogue.
    text:
        SQL with ``:value`` and ``{part}`` placeholders.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._parts: list[tuple[str, str | None, str | None]] = []
        position = 0
        for match in _PLACEHOLDER.finditer(text):
            self._parts.append((text[position : match.start()], match[1], match[2]))
            position = match.end()
        self._tail = text[position:]
        leaves = len(_LEAF.findall(_NO_LEAVES.sub("", text)))
        self.ast_values = _VALUES_PER_STATEMENT + _VALUES_PER_LEAF * leaves

    def render(self, **values: SqlValue) -> str:
        """Return the SQL with `values` in their places.

        Raises
        ------
        KeyError
            A value is missing.
        ValueError
            A table's part is neither digits nor `executions.WAITING`, or a name is none.
        InvalidText, OverflowError
            See `literals.literal`.
        """
        out: list[str] = []
        for text, value_name, part_name in self._parts:
            out.append(text)
            if value_name is not None:
                out.append(literal(values[value_name], value_name))
            elif part_name is not None:
                part = values[part_name]
                allowed = _WHOLE_PARTS.get(part_name, _TABLE_PART)
                if not isinstance(part, str) or not allowed.fullmatch(part):
                    raise ValueError(f"{part_name} can't be part of a table's name: {part!r}")
                out.append(part)
        out.append(self._tail)
        return "".join(out)


class Script:
    """Statements that go to the database in one request, which is one transaction (ALOPEX.md 3)."""

    def __init__(self) -> None:
        self._statements: list[str] = []
        self._ast_values = 0

    def add(self, statement: Statement, **values: SqlValue) -> "Script":
        """Append `statement` with `values` and return the script. Raises as `Statement.render`."""
        self._statements.append(statement.render(**values))
        self._ast_values += statement.ast_values
        return self

    def union(self, selects: "list[Script]") -> "Script":
        """Append the selects of `selects` as one UNION ALL: only a script's last result comes back.

        Raises
        ------
        ScriptTooLong
            There are more than `MAX_SELECTS`.
        """
        texts = [text for script in selects for text in script._statements]
        if len(texts) > MAX_SELECTS:
            raise ScriptTooLong
        self._statements.append("\nUNION ALL\n".join(texts))
        self._ast_values += sum(script._ast_values for script in selects)
        return self

    @property
    def sql(self) -> str:
        """The script's text.

        Raises
        ------
        ScriptTooLong
            It is over `MAX_SCRIPT_BYTES`, `MAX_REQUEST_BYTES` or `MAX_AST_VALUES`. Nothing was sent.
        """
        text = ";\n".join(self._statements)
        ast_bytes = self._ast_values * _BYTES_PER_VALUE
        if self._ast_values > MAX_AST_VALUES:
            raise ScriptTooLong
        # No character takes more than 4 bytes of UTF-8 or 12 of JSON: most scripts need no second look.
        if len(text) * 4 + ast_bytes > MAX_SCRIPT_BYTES and len(text.encode()) + ast_bytes > MAX_SCRIPT_BYTES:
            raise ScriptTooLong
        room = MAX_REQUEST_BYTES - _ENVELOPE_BYTES
        if len(text) * 12 > room and len(json.dumps(text)) > room:
            raise ScriptTooLong
        return text


def read_statements(text: str) -> Iterator[Statement]:
    """Yield the named statements of one .sql file's text."""
    pieces = _NAME.split(text)
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        yield Statement(name, _COMMENT.sub("", body).strip().removesuffix(";"))


def load(file_name: str) -> dict[str, Statement]:
    """Return the statements of ``sql/statements/<file_name>.sql`` by name.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    """
    text = resources.files("whenthen.store").joinpath(f"sql/statements/{file_name}.sql").read_text("utf-8")
    return {statement.name: statement for statement in read_statements(text)}
