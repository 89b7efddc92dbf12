"""What the mail of a digest holds, however much was collected."""

import pytest

from whenthen.model.encoding import Encoding
from whenthen.model.templates import render
from whenthen.services.email.fields import SendEmailFields
from whenthen.services.email_digest.letters import MAX_LISTED, letter_fields


@pytest.mark.parametrize("letter", ["a", '"', "\n", "字", "😀"])
def test_the_longest_entries_fit_an_email(letter: str) -> None:
    """Given entries as long as they may be, in letters of any size, then the mail can be sent and counts those left."""
    entries = [{"title": letter * 250, "text": letter * 2000, "link": ""}] * MAX_LISTED
    fields, ingredients = letter_fields("ada@example.org", entries, MAX_LISTED)
    text = render(fields["body"], ingredients, Encoding.PLAIN).text
    mail = SendEmailFields.model_validate({**fields, "subject": "Your digest", "body": text})
    listed = mail.html.count("<b>")
    assert listed > 0
    assert mail.body.endswith(f"… and {MAX_LISTED - listed} more.")
