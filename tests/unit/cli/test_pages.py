"""What the operators' commands print."""

from whenthen.cli import pages
from whenthen.engine.doctor import Finding, Item


def test_a_table_is_as_wide_as_its_cells() -> None:
    assert list(pages.table(("A", "BB", "WHY"), [("long", "b", "because  "), ("x", "bbb", "")])) == [
        "A     BB   WHY",
        "long  b    because",
        "x     bbb",
    ]


def test_nothing_that_a_terminal_obeys_is_printed() -> None:
    (_, line) = pages.table(("A", "B"), [("\x1b[2J", "a\nb\r\x07é🚪")])
    assert line == " [2J  a b  é🚪"


def test_many_items_are_counted() -> None:
    found = Finding("things", tuple(Item(f"i{n}", "is odd\x1b") for n in range(23)), "It matters.", "By hand: look.")
    head, *items, more, why, remedy = pages.finding(found)
    assert head == "things: 23"
    assert items == [f"  i{n}: is odd " for n in range(20)]
    assert (more, why, remedy) == ("  and 3 more", "  Why it matters: It matters.", "  By hand: look.")
