"""What a check leaves for the next one."""

from hypothesis import given
from hypothesis import strategies as st

from whenthen.engine.identity import event_id
from whenthen.engine.positions import KEPT_BEYOND_DOCUMENT, Position, mark, next_position

IDS = [event_id("t", str(number)) for number in range(500)]
subsets = st.lists(st.sampled_from(IDS), unique=True, max_size=200)


def test_before_the_first_check_there_is_none() -> None:
    assert Position.read("") is None


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text()), subsets)
def test_it_comes_back_as_it_was(service: dict[str, object], ids: list[str]) -> None:
    position = Position(service, tuple(map(mark, ids)))
    text = position.to_json()
    assert text.isascii()
    assert Position.read(text) == position


@given(subsets, subsets)
def test_what_the_source_shows_is_seen_and_nothing_else_is_new(before: list[str], after: list[str]) -> None:
    old = next_position(None, {}, before)
    assert old.unseen(before) == []
    assert set(old.unseen(after)) == set(after) - set(before)
    new = next_position(old, {}, after)
    assert new.unseen(after) == []
    assert len(new.seen) <= len(after) + KEPT_BEYOND_DOCUMENT or not after


@given(subsets, st.integers(0, 200))
def test_what_waits_is_found_again(ids: list[str], count: int) -> None:
    waiting = ids[:count]
    assert next_position(None, {}, ids, waiting).unseen(ids) == waiting


def test_an_answer_without_items_forgets_nothing() -> None:
    old = next_position(None, {"a": 1}, IDS[:100])
    assert next_position(old, {"a": 2}, []) == Position({"a": 2}, old.seen)


def test_some_of_what_is_gone_is_kept() -> None:
    old = next_position(None, {}, IDS[:100])
    new = next_position(old, {}, IDS[100:110])
    assert new.unseen(IDS[:110]) == IDS[KEPT_BEYOND_DOCUMENT:100]


def test_nothing_new_leaves_an_equal_position() -> None:
    old = next_position(None, {"a": [1]}, IDS[:100])
    assert next_position(Position.read(old.to_json()), {"a": [1]}, IDS[:100]) == old
