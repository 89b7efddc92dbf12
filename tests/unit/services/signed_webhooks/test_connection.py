"""What a connection to a sender may be, told at the field when it is made."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.signing import SENDERS
from whenthen.services.connecting import secret_names
from whenthen.services.signed_webhooks.connection import CONNECTION, SignedWebhookFields

HMAC = SENDERS["hmac"].fields


@pytest.mark.parametrize("name", SENDERS)
def test_each_sender(name: str) -> None:
    fields = SignedWebhookFields.model_validate(SENDERS[name].fields)
    assert SignedWebhookFields.model_validate(fields.model_dump(mode="json")) == fields
    assert CONNECTION.test(fields) is None
    for secret in (SENDERS[name].fields["secret"], "tok en"):
        assert secret not in repr(fields)


def test_secrets_are_marked_as_such() -> None:
    assert secret_names(SignedWebhookFields) == {"secret", "verify_token"}


@pytest.mark.parametrize(
    ("values", "field", "said"),
    [
        ({"scheme": "pagerduty", "secret": "s"}, "scheme", "github"),
        ({"scheme": "github"}, "secret", "required"),
        ({"scheme": "github", "secret": ""}, "secret", "at least 1"),
        ({"scheme": "github", "secret": "s\n"}, "secret", "line breaks"),
        ({"scheme": "github", "secret": "s", "signature_header": "X-Sign"}, "signature_header", "is for hmac"),
        ({"scheme": "github", "secret": "s", "algorithm": "sha1"}, "algorithm", "is for hmac"),
        ({"scheme": "slack", "secret": "s", "verify_token": "t"}, "verify_token", "is for meta"),
        ({"scheme": "slack", "secret": "s", "signed_content": "{body}."}, "signed_content", "is for hmac"),
        ({"scheme": "meta", "secret": "s"}, "verify_token", "needed for meta"),
        ({"scheme": "standard_webhooks", "secret": "whsec_#"}, "secret", "base64"),
        ({"scheme": "standard_webhooks", "secret": "whsec_"}, "secret", "no key"),
        ({"scheme": "hmac", "secret": "s"}, "signature_header", "needed for hmac"),
        ({**HMAC, "signature_header": "X Sign"}, "signature_header", "pattern"),
        ({**HMAC, "prefix": "a\r\nb"}, "prefix", "pattern"),
        ({**HMAC, "id_header": "Authorization"}, "id_header", "never kept"),
        ({**HMAC, "type_header": "cookie"}, "type_header", "never kept"),
        ({**HMAC, "signed_content": "{timestamp}"}, "signed_content", "{body} once"),
        ({**HMAC, "signed_content": "{timestamp}{body}{body}"}, "signed_content", "{body} once"),
        ({**HMAC, "signed_content": "{body}"}, "signed_content", "{timestamp}"),
        ({**HMAC, "timestamp_header": ""}, "signed_content", "{timestamp}"),
        ({**HMAC, "signed_content": "{id}{timestamp}{body}", "id_header": ""}, "signed_content", "header for it"),
        ({**HMAC, "secret": "a\x00b"}, "secret", "NUL"),
        ({**HMAC, "surprise": 1}, "surprise", "not permitted"),
    ],
)
def test_what_is_wrong_is_told_at_the_field(values: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        SignedWebhookFields.model_validate(values)
    first = refused.value.errors()[0]
    assert first["loc"] == (field,)
    assert said in first["msg"]
