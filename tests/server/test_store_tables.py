"""Tables read, written and compared as they are: on a real server, with pages so small that every edge is met."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise, product

import pytest

from tests.server.conftest import Regime
from tests.support.alopex import AlopexServer
from tests.support.catalogue import STATEMENTS
from whenthen.store import tables
from whenthen.store.comparing import Differs, compare
from whenthen.store.database import Database, connect
from whenthen.store.errors import Duplicate, StoreError
from whenthen.store.migrations import migrate
from whenthen.store.rebuild import _makers as makers
from whenthen.store.statements import Script
from whenthen.store.tables import Table, describe, list_tables, read_span, spans, take_span, write_span

COLUMNAR = "WITH (storage='columnar', compression='zstd')"


@pytest.fixture
def database(regime: Regime) -> Iterator[Database]:
    """A database with a table of rows and a columnar one, whose rows share keys."""
    with closing(connect(regime.server.url, api_key=regime.server.api_key)) as made:
        made.execute("CREATE TABLE items (item_id TEXT PRIMARY KEY, body TEXT, n BIGINT, flag BOOLEAN)")
        made.execute(f"CREATE TABLE log_202601 (execution_id TEXT NOT NULL, n BIGINT, body TEXT) {COLUMNAR}")
        file = regime.server.copy_dir / "load.parquet"
        # In no order, and one, two or three of a key.
        ids = [f"202601{1 + number * 7 % 31:02}{number % 24:02}00.{number:03}" for number in range(60)]
        made.execute(
            "INSERT INTO items SELECT value, REPEAT('é', 40), CAST(SUBSTR(value, 14, 3) AS BIGINT), NULL "
            f"FROM json_each('{json.dumps(ids)}')"
        )
        several = [key for number, key in enumerate(ids) for _ in range(1 + number % 3)]
        made.execute(
            "COPY (SELECT value AS execution_id, 9223372036854775807 AS n, CAST(NULL AS TEXT) AS body "
            f"FROM json_each('{json.dumps(several)}')) TO '{file}' WITH (FORMAT PARQUET);"
            f"COPY log_202601 FROM '{file}' WITH (FORMAT PARQUET)"
        )
        regime.boundary()
        yield made


@pytest.fixture(params=["items", "log_202601"])
def table(request: pytest.FixtureRequest, database: Database) -> Table:
    """One table after the other."""
    return describe(database, request.param)


def test_spans_are_all_rows_once(database: Database, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given pages and spans of any size, then together they are the table, and no key is torn apart."""
    everything = database.execute(f"SELECT * FROM {table.name}")
    for measured, span_bytes in product((4, 7, 60, 120, 1000), (1, 300, 10_000)):
        monkeypatch.setattr(tables, "_MEASURED_ROWS", measured)
        monkeypatch.setattr(tables, "SPAN_BYTES", span_bytes)
        found = list(spans(database, table))
        pages = [read_span(database, table, span) for span in found]
        assert [len(page) for page in pages] == [span.rows for span in found]
        assert all(page[-1][table.key] == span.edge for page, span in zip(pages, found, strict=True))
        assert all(first.edge == second.after < second.edge for first, second in pairwise(found))
        assert sorted(repr(row) for page in pages for row in page) == sorted(map(repr, everything))
        assert span_bytes > 1 or len(found) == 60, "one key a span"
        middle = found[len(found) // 2]
        assert next(spans(database, table, middle.after)).after == middle.after


def test_what_spans_refuse(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a page of one key, or a key before all bounds, then rows would be missed: it is told."""
    monkeypatch.setattr(tables, "_MEASURED_ROWS", 3)
    with pytest.raises(StoreError, match=r"log_202601 has more than 3 rows with the execution_id 202601"):
        list(spans(database, describe(database, "log_202601")))
    database.execute("INSERT INTO items VALUES ('', '', 0, FALSE)")
    with pytest.raises(StoreError, match="items has a row whose item_id is empty"):
        list(spans(database, describe(database, "items")))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("a TEXT PRIMARY KEY, b TIMESTAMP", "odd can't be copied: b is TIMESTAMP"),
        ("a TEXT PRIMARY KEY, b DOUBLE, c JSON", "b is DOUBLE, c is JSON"),
        ("a BIGINT PRIMARY KEY", "its key a is no text"),
    ],
)
def test_a_table_that_would_not_be_copied_exactly(server: AlopexServer, columns: str, words: str) -> None:
    with closing(connect(server.url, api_key=server.api_key)) as database:
        database.execute(f"CREATE TABLE odd ({columns})")
        with pytest.raises(StoreError, match=words):
            describe(database, "odd")


def test_a_span_that_comes_again_is_found(database: Database, regime: Regime) -> None:
    """Given a columnar table that takes in everything, when a span is taken twice, then the comparison tells."""
    table = describe(database, "log_202601")
    file = str(regime.server.copy_dir / "span.parquet")
    assert compare(database, database, table) == 120
    with closing(connect(":memory:")) as copy:
        copy.execute(f"CREATE TABLE log_202601 (execution_id TEXT NOT NULL, n BIGINT, body TEXT) {COLUMNAR}")
        script = Script()
        take_span(script, table, file)
        for span in spans(database, table):
            write_span(database, table, span, file)
            copy.execute(script.sql)
        assert compare(database, copy, table) == 120
        copy.execute(script.sql)
        with pytest.raises(Differs, match=r"log_202601, execution_id \S+: has (\d) rows, and (\d) in the copy"):
            compare(database, copy, table)


def test_a_copy_refuses_what_the_table_refused(server: AlopexServer) -> None:
    """Given a column besides the key in which nothing may stand twice, then a copied table keeps to that."""
    columns = "a TEXT PRIMARY KEY, b TEXT NOT NULL UNIQUE"
    file = str(server.copy_dir / "span.parquet")
    with closing(connect(server.url, api_key=server.api_key)) as database, closing(connect(":memory:")) as copy:
        for place in (database, copy):
            place.execute(f"CREATE TABLE odd ({columns})")
        database.execute("INSERT INTO odd VALUES ('1', 'one'), ('2', 'two')")
        table = describe(database, "odd")
        script = Script()
        take_span(script, table, file)
        for span in spans(database, table):
            write_span(database, table, span, file)
            copy.execute(script.sql)
        with pytest.raises(Duplicate) as refused:
            copy.execute("INSERT INTO odd VALUES ('3', 'two')")
        assert refused.value.columns == ("b",)


def test_every_table_that_comes_and_goes_can_be_made_again(server: AlopexServer) -> None:
    """Given all tables that the catalogue makes, then a rebuild knows how, and that they can be copied."""
    made = [statement for statement in STATEMENTS if re.match(r"CREATE TABLE[^(]*\{", statement.text)]
    known = makers()
    assert {statement.text for _, _, statement in known} == {statement.text for statement in made}
    with closing(connect(server.url, api_key=server.api_key)) as database:
        migrate(database)
        for _, part, statement in known:
            database.execute(statement.render(**{part: "202601"}))
        own = {"meta", "probes", "schema_versions"}
        assert {describe(database, name).columnar for name in list_tables(database) if name not in own} == {True, False}
