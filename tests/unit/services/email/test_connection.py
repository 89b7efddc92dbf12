"""What an account needs, told field by field."""

import pytest
from pydantic import ValidationError

from whenthen.services.connecting import secret_names
from whenthen.services.email.connection import EmailAccount

SMTP = {"sender": "me@example.org", "host": "mail.example.org"}
SES = {
    "kind": "ses",
    "sender": "me@example.org",
    "region": "eu-west-1",
    "access_key_id": "AKIDEXAMPLE",
    "secret_access_key": "secret",
}


@pytest.mark.parametrize(
    "fields",
    [
        SMTP,
        {**SMTP, "user": "me", "password": "app password"},
        {**SMTP, "security": "tls", "port": 465, "sender_name": "Me, myself"},
        {**SMTP, "host": "127.0.0.1", "security": "none"},
        SES,
        {**SES, "endpoint": "https://vpce-1.email.eu-west-1.vpce.amazonaws.com/"},
    ],
)
def test_what_is_enough(fields: dict[str, object]) -> None:
    account = EmailAccount.model_validate(fields)
    assert "secret" not in repr(account)
    assert "app password" not in repr(account)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"sender": "me@example.org"}, "host"),
        ({**SMTP, "host": ""}, "host"),
        ({**SMTP, "host": "mail.example.org/x"}, "host"),
        ({**SMTP, "host": "mail.example.org\r\nEHLO"}, "host"),
        ({**SMTP, "sender": "me"}, "sender"),
        ({**SMTP, "sender": "Me <me@example.org>"}, "sender"),
        ({**SMTP, "sender": "me@example.org, you@example.org"}, "sender"),
        ({**SMTP, "sender_name": "Me\r\nBcc: x@example.org"}, "sender_name"),
        ({**SMTP, "port": 0}, "port"),
        ({**SMTP, "security": "maybe"}, "security"),
        ({**SMTP, "security": "none", "user": "me", "password": "secret"}, "user"),
        ({**SMTP, "user": "me"}, "password"),
        ({**SMTP, "user": "me", "password": "gü"}, "password"),
        ({**SMTP, "user": "me", "password": "a\r\nb"}, "password"),
        ({**SES, "region": ""}, "region"),
        ({**SES, "region": "evil.example.org/"}, "region"),
        ({**SES, "access_key_id": ""}, "access_key_id"),
        ({**SES, "secret_access_key": ""}, "secret_access_key"),
        ({**SES, "endpoint": "ftp://example.org"}, "endpoint"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(fields: dict[str, object], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        EmailAccount.model_validate(fields)
    assert [error["loc"] for error in refused.value.errors()] == [(field,)]


def test_passwords_are_secret() -> None:
    assert secret_names(EmailAccount) == {"password", "secret_access_key"}
