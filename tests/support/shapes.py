"""The shape guard: which SQL stays flat on a database whose rows are in SST files (ALOPEX.md 4).

Allowed is a short list; everything else is a violation whose message names the rule. Range scans are
violations on small tables, too: each opens every SST file, whatever the table.
"""

import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from tests.support.catalogue import SCHEMA_STATEMENTS, STATEMENTS, example

GROWING = (
    "trigger_events",
    "executions_",
    "probes",
    "execution_log_",
    "execution_details_",
    "stat_parts_",
    "slot_loads",
    "sheet_rows",
    "digests",
    "digest_entries",
)
"""Tables, or the beginnings of their names, whose rows are not few."""

_SCANNING_CLAUSES = {
    "joins": "a join scans",
    "group": "GROUP BY scans",
    "having": "HAVING scans",
    "distinct": "DISTINCT scans",
    "order": "ORDER BY scans",
    "limit": "LIMIT does not keep a scan from opening every SST file",
    "offset": "OFFSET scans",
    "with_": "a CTE is not one of the flat shapes",
    "from_": "a second table in FROM is a join and scans",
}
_SCANNING_PREDICATES: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Exists, "EXISTS scans"),
    (exp.Subquery, "a subquery scans"),
    (exp.Or, "OR in the WHERE scans"),
    (exp.And, "AND beside the key scans"),
    (exp.In, "IN scans"),
    (exp.Between, "BETWEEN scans"),
)

type Keys = dict[str, tuple[str, bool]]
"""Table without its slot → the primary key's column, and whether it is text."""


def _parse(sql: str) -> exp.Expr:
    found = [tree for tree in sqlglot.parse(sql, dialect="postgres") if tree is not None]
    if len(found) != 1:
        raise ParseError(f"{len(found)} statements")
    return found[0]


def _table_name(name: str) -> str:
    return re.sub(r"_(\d+|waiting)$", "_", name)


def primary_keys() -> Keys:
    """The key of each table, from the statements that create it."""
    keys: Keys = {}
    for statement in (*SCHEMA_STATEMENTS, *STATEMENTS):
        tree = _parse(example(statement))
        if not isinstance(tree, exp.Create):
            continue
        for column in tree.find_all(exp.ColumnDef):
            if column.find(exp.PrimaryKeyColumnConstraint):
                is_text = column.args["kind"].is_type(exp.DataType.Type.TEXT)
                keys[_table_name(tree.this.this.name)] = (column.name, is_text)
    return keys


KEYS = primary_keys()


def required_columns() -> set[tuple[str, str]]:
    """Table without its slot and column, of all that refuse NULL."""
    required: set[tuple[str, str]] = set()
    for statement in (*SCHEMA_STATEMENTS, *STATEMENTS):
        tree = _parse(example(statement))
        if isinstance(tree, exp.Create):
            for column in tree.find_all(exp.ColumnDef):
                if column.find(exp.NotNullColumnConstraint):
                    required.add((_table_name(tree.this.this.name), column.name))
    return required


REQUIRED = required_columns()
REVISION = ("triggers", "revision")
"""Table and column of the only guard that divides."""


def guards(sql: str) -> list[tuple[str, str]]:
    """Table and column of each guard in `sql`: that is how a script is refused.

    An UPDATE guards with a CASE that may be NULL, and a SELECT with one that it divides by.
    """
    tree = _parse(sql)
    target = _target(tree) if isinstance(tree, exp.Update | exp.Select) else None
    if not isinstance(target, exp.Table):
        return []
    table = _table_name(target.name)
    if isinstance(tree, exp.Select):
        return [(table, column) for item in tree.expressions if (column := _divisor_column(item.unalias()))]
    return [
        (table, change.this.name)
        for change in tree.expressions
        if isinstance(change, exp.EQ) and isinstance(change.expression, exp.Case) and _may_be_null(change.expression)
    ]


def _may_be_null(case: exp.Case) -> bool:
    return isinstance(case.args.get("default") or exp.Null(), exp.Null)


def _divisor_column(item: exp.Expr) -> str:
    """The column that `1 / CASE WHEN column = literal THEN 1 ELSE 0 END` guards, or empty for anything else."""
    case = item.expression if type(item) is exp.Div else None
    if not isinstance(case, exp.Case) or case.this is not None or len(case.args["ifs"]) != 1:
        return ""
    condition, then, otherwise = case.args["ifs"][0].this, case.args["ifs"][0].args["true"], case.args.get("default")
    if [part and part.sql() for part in (item.this, then, otherwise)] != ["1", "1", "0"]:
        return ""
    if type(condition) is not exp.EQ or not isinstance(condition.expression, exp.Literal):
        return ""
    return condition.this.name if isinstance(condition.this, exp.Column) else ""


def violations(sql: str) -> list[str]:
    """What is wrong with the shape of `sql`, one statement with examples for its values; empty if it is flat."""
    try:
        tree = _parse(sql)
    except ParseError as error:
        return [f"not one statement that can be judged: {str(error).splitlines()[0]}"]
    return list(_judge(tree))


def _judge(tree: exp.Expr) -> Iterator[str]:
    match tree:
        case exp.Create():
            yield from _judge_create(tree)
        case exp.Union():
            yield from _judge_union(tree)
        case exp.Select():
            yield from _judge_select(tree)
        case exp.Update():
            yield from _judge_clauses(tree)
            yield from _judge_nested(tree, tree.expressions)
            yield from _judge_changes(tree)
            yield from _judge_where(tree)
        case exp.Insert():
            yield from _judge_insert(tree)
        case exp.Delete():
            yield "DELETE takes time with the square of the table"
        case _:
            yield f"{tree.key.upper()} is not one of the flat shapes"


def _judge_create(tree: exp.Create) -> Iterator[str]:
    if tree.kind != "TABLE" or not tree.args.get("exists") or tree.expression is not None:
        yield "of CREATE, only CREATE TABLE IF NOT EXISTS with its columns is allowed"


def _judge_union(tree: exp.Union) -> Iterator[str]:
    if tree.args.get("distinct") is not False or type(tree) is not exp.Union:
        yield "only UNION ALL is flat"
    yield from _judge_clauses(tree)
    yield from _judge(tree.this)
    yield from _judge(tree.expression)


def _judge_select(tree: exp.Select) -> Iterator[str]:
    yield from _judge_clauses(tree)
    yield from _judge_nested(tree, tree.expressions)
    yield from _judge_divisions(tree)
    if any(item.find(exp.AggFunc, exp.Window) for item in tree.expressions):
        yield "an aggregate reads the whole table"
    yield from _judge_where(tree)


def _judge_divisions(tree: exp.Expr) -> Iterator[str]:
    """Every division by zero is told as the failed guard of a trigger's revision, so nothing else may divide."""
    guarding = [item.unalias() for item in tree.expressions if _divisor_column(item.unalias()) == REVISION[1]]
    target = _target(tree) if isinstance(tree, exp.Select) else None
    if not isinstance(target, exp.Table) or _table_name(target.name) != REVISION[0]:
        guarding = []
    for division in tree.find_all(exp.Div, exp.IntDiv, exp.Mod):
        if not any(division is guard for guard in guarding):
            yield "divides, and is not 1 / CASE WHEN revision = … THEN 1 ELSE 0 END of a trigger"


def _judge_changes(tree: exp.Update) -> Iterator[str]:
    """A CASE that may be NULL refuses the script, if nothing stands around it and its column refuses NULL."""
    yield from _judge_divisions(tree)
    table = _table_name(tree.this.name)
    guarding = []
    for change in tree.expressions:
        if isinstance(change, exp.EQ) and isinstance(change.expression, exp.Case) and _may_be_null(change.expression):
            guarding.append(change.expression)
            if (table, change.this.name) not in REQUIRED:
                yield f"a CASE without ELSE guards nothing: {change.this.name} takes NULL"
    for case in tree.find_all(exp.Case):
        if _may_be_null(case) and not any(case is guard for guard in guarding):
            yield "a CASE without ELSE inside another expression guards nothing"


def _judge_insert(tree: exp.Insert) -> Iterator[str]:
    yield from _judge_clauses(tree)
    if (conflict := tree.args.get("conflict")) is not None:
        if conflict.args.get("conflict_keys") or conflict.args.get("constraint"):
            yield "ON CONFLICT with a target scans"
        if str(conflict.args.get("action")) != "DO NOTHING":
            yield "ON CONFLICT DO UPDATE scans"
    match tree.expression:
        case exp.Values() as rows:
            yield from _judge_nested(tree, rows.expressions)
            yield from _judge_divisions(rows)
        case exp.Select() as source if _reads_json(source):
            yield from _judge_clauses(source)
            yield from _judge_nested(source, source.expressions)
            yield from _judge_divisions(source)
        case exp.Select() | exp.Union() as source:
            yield from _judge(source)
        case _:
            yield "INSERT from anything but VALUES or a flat SELECT"


def _reads_json(select: exp.Select) -> bool:
    """Whether all it reads is a JSON text in the statement: `FROM json_each('…')`, without a WHERE."""
    table = _target(select)
    function = table.this if isinstance(table, exp.Table) else None
    if not isinstance(function, exp.Anonymous) or str(function.this) != "json_each" or select.args.get("where"):
        return False
    return len(function.expressions) == 1 and isinstance(function.expressions[0], exp.Literal)


def _judge_clauses(tree: exp.Expr) -> Iterator[str]:
    for name, rule in _SCANNING_CLAUSES.items():
        if tree.args.get(name) and not (name == "from_" and isinstance(tree, exp.Select)):
            yield rule


def _judge_nested(tree: exp.Expr, expressions: list[exp.Expr]) -> Iterator[str]:
    if any(item.find(exp.Select, exp.Exists) for item in expressions):
        yield f"a subquery among the values of {tree.key.upper()} scans"


def _target(tree: exp.Expr) -> exp.Expr | None:
    source = tree if isinstance(tree, exp.Update) else tree.args.get("from_")
    target: exp.Expr | None = source.this if source is not None else None
    return target


def _judge_where(tree: exp.Expr) -> Iterator[str]:
    table = _target(tree)
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        yield "reads from something that is not a table"
        return
    name = _table_name(table.name)
    if name not in KEYS:
        yield f"{table.name} is not a table of the schema"
        return
    where = tree.args.get("where")
    size = "growing" if name.startswith(GROWING) else "small"
    if where is None:
        yield f"without a WHERE all of {name} ({size}) is read"
        return
    rules = [rule for kind, rule in _SCANNING_PREDICATES if where.find(kind)]
    yield from rules or _judge_key(where.this, name, size)


def _judge_key(predicate: exp.Expr, name: str, size: str) -> Iterator[str]:
    key, is_text = KEYS[name]
    if not isinstance(predicate, exp.EQ) or not isinstance(predicate.this, exp.Column):
        yield f"only `{key} = …` finds a row of {name} ({size}); this scans"
        return
    if predicate.this.name != key:
        yield f"{predicate.this.name} is not the key of {name} ({size}): a scan"
        return
    value = predicate.expression
    if not is_text:
        if not isinstance(value, exp.Literal):
            yield f"the number {key} is compared with a plain literal, or it scans"
    elif isinstance(value, exp.Literal):
        yield f"a bare literal on the text key {key} is a range scan after a checkpoint: CAST(… AS TEXT)"
    elif not (
        type(value) is exp.Cast
        and value.to.is_type(exp.DataType.Type.TEXT)
        and isinstance(value.this, exp.Literal)
        and value.this.is_string
    ):
        yield f"the text key {key} is compared with CAST('…' AS TEXT) and nothing else"
