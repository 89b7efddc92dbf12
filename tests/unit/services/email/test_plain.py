"""Pages as text."""

import pytest

from whenthen.services.email.plain import plain_text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>One</p><p>Two<br>Three</p>", "One\n\nTwo\nThree\n"),
        ('<a href="https://example.org">Here</a>', "Here (https://example.org)\n"),
        ("<style>p {}</style><title>x</title>Shown", "Shown\n"),
        ("<!--[if mso]>Outlook<![endif]--><![if !mso]>Others<![endif]>", "Others\n"),
        ("One<![anything]>Two<![", "OneTwo<![\n"),
    ],
)
def test_a_page_as_text(page: str, text: str) -> None:
    assert plain_text(page) == text
