"""Which rows are new."""

import json

from tests.support.checking import NOW, Checks
from tests.support.owned import Kept

_HOUR = 3_600_000


def checks(*rows: tuple[int, dict[str, str] | None]) -> Checks:
    return Checks("table", "new_row", {"table": "T"}, owned=Kept(rows))


def test_rows_that_were_there_are_no_news() -> None:
    """R3: the first check remembers the last row; the second comes soon, whatever was added in between."""
    made = checks((NOW, {"A": "1"}), (NOW + 1, {"A": "2"}))
    first = made.check(NOW)
    assert (first.items, first.position, first.next_check_at) == ((), {"after": 1}, NOW + 60_000)
    second = made.check(NOW + 1)
    assert [item.unique for item in second.items] == ["2"]
    assert second.next_check_at == NOW + 1 + _HOUR, "whoever adds a row makes the check due"
    assert made.check(NOW + 2).items == ()


def test_an_item_has_the_row_in_all_forms() -> None:
    made = checks((NOW + 5_000, {"Naïve": 'a "b"', "N": "3,20"}))
    made.check(NOW)
    (item,) = made.check(NOW + 5_000).items
    assert item.occurred_at == NOW + 5_000
    assert json.loads(item.ingredients.pop("RowJson")) == {"Naïve": 'a "b"', "N": "3,20"}  # type: ignore[attr-defined]
    assert item.ingredients == {
        "Table": "T",
        "RowNumber": "1",
        "AddedAt": "September 21, 2026 at 02:13PM",
        "Values": 'a "b", 3,20',
    }


def test_many_rows_come_in_portions_and_none_is_left_out() -> None:
    """Given more rows than are read at once, then the next check is due at once and goes on."""
    made = checks(*((NOW + 1, {"A": str(number)}) for number in range(230)))
    made.check(NOW)
    portions = [made.check(NOW + 2) for _ in range(4)]
    assert [len(found.items) for found in portions] == [100, 100, 30, 0]
    assert [found.next_check_at == NOW + 2 for found in portions] == [True, True, False, False]
    numbers = [int(item.unique) for found in portions for item in found.items]
    assert numbers == list(range(1, 231))


def test_emptied_rows_are_passed_over() -> None:
    made = checks((NOW + 1, None), (NOW + 1, None), (NOW + 1, {"A": "3"}), (NOW + 2, None))
    made.check(NOW)
    assert [item.unique for item in made.check(NOW + 1).items] == ["3"]
    assert (made.check(NOW + 2).items, made.position) == ((), {"after": 4})


def test_a_table_that_is_not_there_yet_has_no_rows() -> None:
    made = checks((NOW + 1, {"A": "1"}))
    assert made.check(NOW).position == {"after": 0}
    assert len(made.check(NOW + 1).items) == 1
