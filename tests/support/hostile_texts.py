"""Names and payloads that want to be more than text on a page."""

import pytest

from tests.support.pages import Shown

HOSTILE_TEXTS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "\u202egnp.exe\u2066 \u200b.",
    "𝕏🙂日本語",
    "n" * 100,
    "{{7*7}} {% raise %} %(x)s",
)

with_hostile_texts = pytest.mark.parametrize("hostile", HOSTILE_TEXTS)


def assert_is_text(page: Shown, hostile: str) -> None:
    """The page shows the text as it is, and as nothing else."""
    assert page.status < 500
    values = [str(field.get("value", "")) for field in page.soup.select("input")]
    assert hostile in page.soup.get_text() or hostile in values
    assert page.soup.select("main script, img, [onerror]") == []
    for link in page.soup.select("a[href]"):
        assert str(link["href"]).startswith(("/", "#", "http://", "https://")), link
