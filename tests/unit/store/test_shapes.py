"""The shape guard over all that the store can send, the guard's own proof, and its one list of exceptions."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.catalogue import STATEMENTS, STORE, example, source_files
from tests.support.shapes import KEYS, REQUIRED, guards, violations

_CLOSING = "the closer: a slot's table once, an hour after its end; what waits, once a minute"
_REBUILD = "a rebuild, which has both servers for itself"
_ERASING = "erasing: once an hour, and only when a day's payloads or an owner's data are to go"
_HISTORY = "the log, bounded by slots: the closer once a slot, a page of the history, one execution in detail"
_DOCTOR = "`whenthen status` and `whenthen doctor`: by hand, when somebody asks how it stands or what is wrong"

EXCEPTIONS = {
    "read_version": "a few rows, read by migrate, check and once by a starting process",
    "list_users": "a few rows, once a minute by the trim of the inbox, never for a request",
    "list_keys": "console page",
    "list_applets": "console page",
    "list_triggers": "console page",
    "list_connections": "console page; erasing",
    "list_console_users": "console page: an administrator's, of a few rows; keeping somebody out",
    "count_sealed": "the beginning of a local run that has no key file yet",
    "list_place": "console page: the newest open slots and what has left its slot, then the older ones",
    "list_places": "console page: one row a slot, in the statement of `list_place`",
    "count_place": "console page: the open slots at once",
    "list_troubled": "console page: one row a trigger that is checked",
    "list_messages": "console page",
    "list_sheets": "console page; the first row of a table; erasing",
    "walk_rows": "console page; a look-up in a table of more than a hundred rows, which may have ten thousand",
    "find_row": "only for a row that comes again, or does not fit",
    "list_failing": "one row an applet that has ever failed, once a minute by the tick",
    "list_left_alone": "one row a host that has ever asked for it, by each worker every few seconds",
    "list_slots": "one row a slot, once a minute by the sweep; console page",
    "list_due_checks": "the tick: one row a trigger that is checked, once a minute",
    "hold_host": "only after a host has asked to be left alone: one row a trigger that is checked",
    "list_due": "the sweep: the open slots once a minute",
    "read_slot_end": "settles a slot once, when it is over",
    "count_messages": "trim of the inbox, once a minute, at most 2,000 rows",
    "find_trim_point": "trim of the inbox, only when it is twice too long",
    "trim_messages": "trim of the inbox: DELETE is cheap on at most some 2,000 rows",
    **dict.fromkeys(
        (
            "count_rows", "move_waiting", "delete_moved", "count_states", "count_unanswered", "count_done", "move_done",
            "delete_done",
            "read_rows", "find_chunk_end", "delete_chunk", "guard_rows", "drop_table", "delete_slot",
        ),
        _CLOSING,
    ),
    **dict.fromkeys(
        (
            "list_months", "list_part", "group_part", "guard_part", "write_facts", "take_facts",
            "write_details", "take_details", "drop_copy", "write_nothing", "list_log",
            "list_reruns", "find_logged", "find_details", "count_log",
        ),
        _HISTORY,
    ),
    **dict.fromkeys(
        (
            "list_days", "delete_day", "guard_empty_day", "count_owners", "list_owned", "write_other_details",
            "write_all_details", "drop_details", "write_other_facts", "write_all_facts", "drop_facts",
            "list_waiting_events",
            "list_erasures", "list_owned_keys", "list_owned_applets", "list_owned_connections",
            "list_owned_digests", "list_owned_users",
            "list_owned_triggers", "delete_inbox", "count_inbox", "count_owned", "list_retentions", "delete_stats",
        ),
        _ERASING,
    ),
    **dict.fromkeys(
        (
            "list_copies", "show_tables", "describe_table", "find_empty_key", "measure_rows", "read_rows_span",
            "write_rows_span", "measure_segments", "read_segments_span", "write_segments_span", "take_span",
        ),
        _REBUILD,
    ),
    **dict.fromkeys(
        (
            "count_due", "count_due_checks", "list_all_applets", "list_all_triggers", "list_all_checks",
            "page_executions", "page_events", "list_logged",
        ),
        _DOCTOR,
    ),
    "sum_deletions": "a row for each small table, once a minute",
    "find_thousandth_event": "once an hour: the first thousand of the key's order",
    "count_events": "only where there are fewer than a thousand",
    "find_newest_execution": "console page: while somebody waits for a call of a trigger that an applet has already",
    **dict.fromkeys(
        ("count_over", "delete_over", "count_awaited", "delete_awaited"),
        "erasing, once an hour: a row for each trigger that somebody has waited for since",
    ),
    "list_stats": "console page: a month's rollups, which are as many as days, applets and services",
    "sum_stats": "console page: as `list_stats`",
    **dict.fromkeys(("list_parts", "sum_parts"), "console page: in the statement of the others, of a day or two"),
    **dict.fromkeys(("write_parts", "take_parts"), _HISTORY),
    **dict.fromkeys(
        ("list_stat_months", "merge_parts", "drop_parts"),
        "merging of numbers that stand apart: once a day, when it is over; a look once an hour, at a row a month",
    ),
}  # fmt: skip
"""Statements that scan, and why each may. None is on the way of an event."""

CAST = "CAST('x' AS TEXT)"
GUARD = "1 / CASE WHEN revision = 7 THEN 1 ELSE 0 END"


def guarding(divided: str, table: str = "triggers", key: str = "trigger_id") -> tuple[str, str]:
    """A select that is not quite the guard, and the rule that refuses it."""
    return f"SELECT {divided} AS unchanged FROM {table} WHERE {key} = {CAST}", "divides"


def changing(change: str, rule: str) -> tuple[str, str]:
    """A change of an execution, and the rule that refuses it."""
    return f"UPDATE executions_202601010000 SET {change} WHERE execution_id = {CAST}", rule


HOSTILE = {
    "bare text": ("SELECT value FROM meta WHERE name = 'x'", "bare literal"),
    "bare text in an update": ("UPDATE meta SET value = '' WHERE name = 'x'", "bare literal"),
    "cast number": ("SELECT event_id FROM trigger_events WHERE event_id = CAST(1 AS TEXT)", "nothing else"),
    "cast column": ("SELECT event_id FROM trigger_events WHERE event_id = CAST(trigger_id AS TEXT)", "nothing"),
    "cast key": ("SELECT event_id FROM trigger_events WHERE CAST(event_id AS TEXT) = 'x'", "scans"),
    "varchar": ("SELECT event_id FROM trigger_events WHERE event_id = CAST('x' AS VARCHAR)", "nothing else"),
    "try cast": ("SELECT event_id FROM trigger_events WHERE event_id = TRY_CAST('x' AS TEXT)", "nothing else"),
    "cast bigint key": (
        "SELECT applied_at FROM schema_versions WHERE schema_version = CAST('1' AS BIGINT)",
        "plain",
    ),
    "not the key": (f"SELECT event_id FROM trigger_events WHERE trigger_id = {CAST}", "not the key"),
    "and": (f"SELECT event_id FROM trigger_events WHERE event_id = {CAST} AND occurred_at > 1", "AND"),
    "guard in the where": (
        f"UPDATE executions_202601010000 SET state = 'x' WHERE execution_id = {CAST} AND state = 'y'",
        "AND",
    ),
    "or": (f"SELECT event_id FROM trigger_events WHERE event_id = {CAST} OR event_id = {CAST}", "OR"),
    "in": ("SELECT event_id FROM trigger_events WHERE event_id IN ('x', 'y')", "IN scans"),
    "in subquery": ("SELECT event_id FROM trigger_events WHERE event_id IN (SELECT slot FROM slots)", "IN"),
    "between": ("SELECT schema_version FROM schema_versions WHERE schema_version BETWEEN 1 AND 2", "BETWEEN"),
    "range": ("SELECT event_id FROM trigger_events WHERE event_id > CAST('x' AS TEXT)", "scans"),
    "like": ("SELECT event_id FROM trigger_events WHERE event_id LIKE 'x%'", "scans"),
    "null": ("SELECT event_id FROM trigger_events WHERE event_id IS NULL", "scans"),
    "not": (f"SELECT event_id FROM trigger_events WHERE NOT event_id = {CAST}", "scans"),
    "order and limit": ("SELECT event_id FROM trigger_events ORDER BY event_id LIMIT 1", "ORDER BY scans"),
    "limit on a key": (f"SELECT event_id FROM trigger_events WHERE event_id = {CAST} LIMIT 1", "LIMIT"),
    "join": (f"SELECT a.slot FROM slots a JOIN meta b ON a.slot = b.name WHERE a.slot = {CAST}", "join"),
    "comma join": (f"SELECT slot FROM slots, meta WHERE slot = {CAST}", "join"),
    "exists": ("SELECT slot FROM slots WHERE EXISTS (SELECT 1 FROM meta)", "EXISTS"),
    "subquery": (f"SELECT s FROM (SELECT slot AS s FROM slots) t WHERE s = {CAST}", "not a table"),
    "scalar subquery": (f"SELECT (SELECT COUNT(*) FROM meta) FROM slots WHERE slot = {CAST}", "subquery"),
    "subquery in set": (
        f"UPDATE slots SET opened_at = (SELECT MAX(opened_at) FROM slots) WHERE slot = {CAST}",
        "subquery",
    ),
    "subquery in values": ("INSERT INTO meta (name, value) VALUES ('x', (SELECT slot FROM slots))", "subquery"),
    "delete": (f"DELETE FROM trigger_events WHERE event_id = {CAST}", "DELETE"),
    "conflict target": ("INSERT INTO meta VALUES ('a', 'b') ON CONFLICT (name) DO NOTHING", "target"),
    "do update": ("INSERT INTO meta VALUES ('a', 'b') ON CONFLICT (name) DO UPDATE SET value = 'b'", "UPDATE"),
    "on constraint": ("INSERT INTO meta VALUES ('a', 'b') ON CONFLICT ON CONSTRAINT c DO NOTHING", "target"),
    "insert from a scan": ("INSERT INTO meta SELECT slot, slot FROM slots", "without a WHERE"),
    "count": ("SELECT COUNT(*) FROM trigger_events", "aggregate"),
    "count of a key": (f"SELECT COUNT(*) FROM trigger_events WHERE event_id = {CAST}", "aggregate"),
    "group": (f"SELECT event_id FROM trigger_events WHERE event_id = {CAST} GROUP BY event_id", "GROUP BY"),
    "distinct": (f"SELECT DISTINCT slot FROM slots WHERE slot = {CAST}", "DISTINCT"),
    "no where": ("SELECT event_id FROM trigger_events", "without a WHERE"),
    "update all": ("UPDATE trigger_events SET ingredients = ''", "without a WHERE"),
    "small table": ("SELECT slot FROM slots", "without a WHERE"),
    "union": (
        f"SELECT slot FROM slots WHERE slot = {CAST} UNION SELECT slot FROM slots WHERE slot = {CAST}",
        "UNION ALL",
    ),
    "scan in a union": (f"SELECT slot FROM slots WHERE slot = {CAST} UNION ALL SELECT slot FROM slots", "WHERE"),
    "cte": (f"WITH a AS (SELECT slot FROM slots) SELECT slot FROM slots WHERE slot = {CAST}", "CTE"),
    "update from": (f"UPDATE slots SET opened_at = 1 FROM meta WHERE slot = {CAST}", "join"),
    "unknown table": (f"SELECT a FROM nowhere WHERE a = {CAST}", "not a table of the schema"),
    "table function": (f"SELECT value FROM json_each('[]') WHERE value = {CAST}", "not a table"),
    "json of a table": ("INSERT INTO meta (name, value) SELECT value, '' FROM json_each(name)", "not a table"),
    "json and a where": (
        "INSERT INTO meta (name, value) SELECT value, '' FROM json_each('[]') WHERE value = 'a'",
        "not",
    ),
    "json and a table": ("INSERT INTO meta (name, value) SELECT value, '' FROM json_each('[]'), slots", "join"),
    "json and a subquery": (
        "INSERT INTO meta (name, value) SELECT value, (SELECT 1 FROM slots) FROM json_each('[]')",
        "subquery",
    ),
    "json and a division": ("INSERT INTO meta (name, value) SELECT value, 1 / 0 FROM json_each('[]')", "divides"),
    "sorted json": ("INSERT INTO meta (name, value) SELECT value, '' FROM json_each('[]') ORDER BY 1", "ORDER BY"),
    "create as": ("CREATE TABLE IF NOT EXISTS a AS SELECT slot FROM slots", "CREATE"),
    "create again": ("CREATE TABLE a (b TEXT PRIMARY KEY)", "CREATE"),
    "index": ("CREATE INDEX a ON slots (opened_at)", "CREATE"),
    "drop": ("DROP TABLE trigger_events", "DROP"),
    "star of all": ("SELECT * FROM executions_202601010000", "without a WHERE"),
    "star by another column": (f"SELECT * FROM executions_202601010000 WHERE applet_id = {CAST}", "not the key"),
    "star by a bare key": ("SELECT * FROM executions_202601010000 WHERE execution_id = 'x'", "bare literal"),
    "star and a subquery": (f"SELECT *, (SELECT 1 FROM meta) AS a FROM slots WHERE slot = {CAST}", "subquery"),
    "guard that divides by NULL": guarding("1 / CASE WHEN revision = 7 THEN 1 END"),
    "guard that divides by one": guarding("1 / CASE WHEN revision = 7 THEN 1 ELSE 1 END"),
    "guard the wrong way round": guarding("1 / CASE WHEN revision = 7 THEN 0 ELSE 1 END"),
    "guard that is divided": guarding("CASE WHEN revision = 7 THEN 1 ELSE 0 END / 1"),
    "guard of nothing": guarding("0 / CASE WHEN revision = 7 THEN 1 ELSE 0 END"),
    "guard with a range": guarding("1 / CASE WHEN revision >= 7 THEN 1 ELSE 0 END"),
    "guard with itself": guarding("1 / CASE WHEN revision = revision THEN 1 ELSE 0 END"),
    "guard with NULL": guarding("1 / CASE WHEN revision = NULL THEN 1 ELSE 0 END"),
    "guard with a way out": guarding("1 / CASE WHEN revision = 7 OR fields = 'x' THEN 1 ELSE 0 END"),
    "guard with two cases": guarding("1 / CASE WHEN revision = 7 THEN 1 WHEN revision = 8 THEN 1 ELSE 0 END"),
    "guard by an operand": guarding("1 / CASE revision WHEN 7 THEN 1 ELSE 0 END"),
    "guard of another column": guarding("1 / CASE WHEN fields = 'x' THEN 1 ELSE 0 END"),
    "guard of another table": guarding(GUARD, "applets", "applet_id"),
    "guard inside a value": guarding(f"COALESCE({GUARD}, 1)"),
    "guard by a remainder": guarding("1 % CASE WHEN revision = 7 THEN 1 ELSE 0 END"),
    "guard beside a division": guarding(f"{GUARD}, 1 / revision"),
    "plain division": guarding("1 / revision"),
    "guard of a scan": (f"SELECT {GUARD} AS unchanged FROM triggers", "without a WHERE"),
    "guard of two keys": (f"SELECT {GUARD} AS a FROM triggers WHERE trigger_id IN ('x', 'y')", "IN scans"),
    "division in the key": (f"SELECT slot FROM slots WHERE slot = {CAST} AND opened_at / 2 = 1", "divides"),
    "division in a change": changing("occurred_at = occurred_at / 2", "divides"),
    "guard by division in a change": changing(f"occurred_at = {GUARD}", "divides"),
    "division in a new row": ("INSERT INTO meta (name, value) VALUES ('a', 1 / 0)", "divides"),
    "division in a copied row": (f"INSERT INTO meta SELECT slot, 1 / 0 FROM slots WHERE slot = {CAST}", "divides"),
    "guard on a column that takes NULL": changing("due_at = CASE WHEN claim = 'x' THEN 1 END", "due_at takes NULL"),
    "ELSE NULL on one that does": changing("wake_at = CASE WHEN claim = 'x' THEN 1 ELSE NULL END", "takes NULL"),
    "guard on a column without a name": changing("nowhere = CASE WHEN claim = 'x' THEN 1 END", "takes NULL"),
    "guard that is swallowed": changing(
        "state = COALESCE(CASE WHEN claim = 'x' THEN 'y' END, state)", "inside another"
    ),
    "guard in a branch": changing(
        "state = CASE WHEN claim = 'x' THEN CASE WHEN sending = 1 THEN 'y' END ELSE state END", "inside another"
    ),
    "guard in a condition": changing(
        "state = CASE WHEN CASE WHEN claim = 'x' THEN TRUE END THEN 'y' ELSE state END", "inside another"
    ),
    "two statements": ("SELECT 1; SELECT 2", "not one statement"),
    "nonsense": ("SELECT FROM WHERE ((", "not one statement"),
}


@pytest.mark.parametrize(
    "statement",
    [statement for statement in STATEMENTS if statement.name not in EXCEPTIONS],
    ids=lambda statement: statement.name,
)
def test_every_statement_has_a_flat_shape(statement: object) -> None:
    assert violations(example(statement)) == []  # type: ignore[arg-type]


def test_the_exceptions_exist_and_are_needed() -> None:
    by_name = {statement.name: statement for statement in STATEMENTS}
    assert [name for name in EXCEPTIONS if name not in by_name] == []
    assert [name for name in EXCEPTIONS if not violations(example(by_name[name]))] == []


@pytest.mark.parametrize(("sql", "rule"), HOSTILE.values(), ids=HOSTILE)
def test_the_guard_refuses(sql: str, rule: str) -> None:
    found = violations(sql)
    assert any(rule in message for message in found), found


def test_the_guard_allows_the_flat_shapes() -> None:
    key = f"SELECT event_id FROM trigger_events WHERE event_id = {CAST}"
    for sql in (
        key,
        f"{key} UNION ALL {key} UNION ALL {key}",
        "SELECT applied_at FROM schema_versions WHERE schema_version = 5",
        f"SELECT * FROM executions_202601010000 WHERE execution_id = {CAST}",
        f"SELECT * FROM slots WHERE slot = {CAST} UNION ALL SELECT * FROM slots WHERE slot = {CAST}",
        f"SELECT {GUARD} AS unchanged FROM triggers WHERE trigger_id = {CAST}",
        f"UPDATE slots SET opened_at = CASE WHEN opened_at > 1 AND slot <> '' THEN 1 END WHERE slot = {CAST}",
        f"UPDATE slots SET opened_at = CASE WHEN opened_at > 1 THEN 1 ELSE NULL END WHERE slot = {CAST}",
        f"UPDATE slots SET settled_at = CASE WHEN opened_at > 1 THEN 1 ELSE settled_at END WHERE slot = {CAST}",
        f"UPDATE slots SET settled_at = 1 WHERE slot = {CAST} RETURNING slot",
        "INSERT INTO meta (name, value) VALUES ('a', 'b'), ('c', 'd') ON CONFLICT DO NOTHING RETURNING name",
        f"INSERT INTO meta (name, value) SELECT slot, '' FROM slots WHERE slot = {CAST}",
        "INSERT INTO meta (name, value) SELECT value, json_extract(value, '$[0]') FROM json_each('[]')",
        "CREATE TABLE IF NOT EXISTS executions_202601010000 (execution_id TEXT PRIMARY KEY)",
    ):
        assert violations(sql) == [], sql


def test_the_keys_come_from_the_schema() -> None:
    assert KEYS["trigger_events"] == ("event_id", True)
    assert KEYS["executions_"] == ("execution_id", True)
    assert KEYS["schema_versions"] == ("schema_version", False)
    columns = [key for key, _ in KEYS.values()]
    assert sorted(set(columns)) == sorted(columns), "a violated key must name its table"


def test_a_guard_stands_on_a_column_that_refuses_null() -> None:
    """Given that a change comes too late, then NULL refuses the script: in another column it would be written."""
    found = {statement.name: guards(example(statement)) for statement in STATEMENTS}
    guarded = {name: columns for name, columns in found.items() if columns}
    assert set(guarded) == {
        "advance_copy",
        "advance_load",
        "claim_execution",
        "close_slot",
        "count_entry",
        "count_try",
        "empty_sheet",
        "grow_sheet",
        "guard_trigger",
        "keep_check",
        "keep_slot_open",
        "mark_sending",
        "record_check",
        "record_outcome",
        "release_execution",
        "requeue_execution",
        "restore_applet",
        "set_listeners",
        "settle_slot",
        "swap_meta",
        "update_applet",
        "update_connection",
        "update_console_user",
        "write_phone",
        "write_phone_list",
    }
    assert {column for columns in guarded.values() for column in columns} <= REQUIRED
    assert ("executions_", "due_at") not in REQUIRED
    assert guards(f"UPDATE executions_1 SET due_at = CASE WHEN claim = 'x' THEN 1 END WHERE execution_id = {CAST}") == [
        ("executions_", "due_at")
    ]
    assert guarded["guard_trigger"] == [("triggers", "revision")]
    assert guards(f"SELECT 1 / revision AS r FROM triggers WHERE trigger_id = {CAST}") == []


def test_no_trigger_is_ever_deleted() -> None:
    """Given that the guard of a trigger that is not there guards nothing, then there must be none that went."""
    deleting = [statement.text for statement in STATEMENTS if re.search(r"\b(DELETE|DROP)\b", statement.text)]
    assert len(deleting) > 1
    assert [text for text in deleting if "triggers" in text] == []


def _calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield name, node


def test_nothing_outside_the_catalogue_builds_sql() -> None:
    """When code hands over SQL, then it is the text of a Script, and only two modules make statements."""
    written, made, rendered = set(), set(), set()
    for path in source_files():
        for name, call in _calls(path):
            where = f"{path.name}:{call.lineno}"
            if name in ("execute", "execute_sql") and isinstance(
                call.args[0] if call.args else None, ast.Constant | ast.JoinedStr | ast.BinOp
            ):
                written.add(where)
            if name == "execute_sql" and path != STORE / "database.py":
                written.add(where)
            if name == "Statement" and path not in (STORE / "statements.py", STORE / "migrations.py"):
                made.add(where)
            if name == "read_statements" and path != STORE / "statements.py":
                made.add(where)
            if name == "load" and path.parent != STORE and "store.statements import" in path.read_text():
                rendered.add(where)
    assert (written, made, rendered) == (set(), set(), set())
