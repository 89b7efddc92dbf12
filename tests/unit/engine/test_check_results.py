"""What is remembered of the last checks of a trigger."""

import pytest

from whenthen.engine.check_results import KEPT, CheckResult, Results


@pytest.mark.parametrize("words", ["", "3 items", "two\nlines", "[[1,2]]", "a\n[[1, 2]]", "é😀\n"])
def test_words_and_checks_come_back(words: str) -> None:
    results = Results().followed_by(words, 1, 0).followed_by(words, 2, None).followed_by(words, 3, 50)
    assert Results.read(results.to_text()) == results
    assert results.last == (CheckResult(3, 50), CheckResult(2, None), CheckResult(1, 0))


def test_only_some_are_kept() -> None:
    results = Results()
    for at in range(100):
        results = Results.read(results.to_text()).followed_by("", at, 0)
    assert [one.at for one in results.last] == [99, 98, 97, 96, 95][:KEPT]
    assert len(Results.read(results.to_text()).to_text()) < 200, "each check writes it"


@pytest.mark.parametrize("text", ["", "The feed is gone.", "a\nb", "a\n{}x", "a\n5", "a\n[1]", "a\n[[1]]", 'a\n["x"]'])
def test_words_of_an_earlier_version_are_words(text: str) -> None:
    assert Results.read(text) == Results(text)
