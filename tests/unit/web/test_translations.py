"""Every text of the pages has its translation, with the same things put into it."""

import pytest

from tests.support import messages
from whenthen.web.console import language

OTHERS = [code for code in language.LANGUAGES if code != language.DEFAULT_LANGUAGE]


@pytest.mark.parametrize("code", OTHERS)
def test_translations_are_whole(code: str) -> None:
    """Given the texts as they are now, then none lacks a translation, and none is translated that is gone."""
    assert (messages.LOCALE / f"{code}.po").read_text() == messages.update(code), "run scripts/update-translations"
    missing = [message.id for message in messages.read(code) if message.id and not any(message.string)]
    assert missing == []


@pytest.mark.parametrize("code", OTHERS)
def test_translations_put_the_same_in(code: str) -> None:
    for message in messages.read(code):
        if not message.id:
            continue
        originals = message.id if isinstance(message.id, tuple) else (message.id,)
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        allowed = {tuple(messages.placeholders(original)) for original in originals}
        for string in strings:
            assert tuple(messages.placeholders(string)) in allowed, message.id


@pytest.mark.parametrize(
    ("wanted", "accepted", "chosen"),
    [
        ("ja", "en", "ja"),
        (None, "ja", "ja"),
        (None, "ja-JP,ja;q=0.9,en;q=0.8", "ja"),
        (None, "de,fr;q=0.9", "en"),
        (None, "en;q=0.1,ja;q=0.9", "ja"),
        (None, "ja;q=0,en;q=0.5", "en"),
        ("xx", None, "en"),
        (None, "ja;q=x," * 1000, "en"),
        (None, "\x00;;q==,,", "en"),
    ],
)
def test_which_language(wanted: str | None, accepted: str | None, chosen: str) -> None:
    """RFC 9110, 12.5.4; what can't be read is passed over."""
    assert language.choose(wanted, accepted) == chosen
