"""What a connection to a sender of signed webhooks needs."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, field_validator

from whenthen.net.credentials import CREDENTIAL_HEADERS
from whenthen.net.signatures import Algorithm, Coding, read_standard_secret
from whenthen.services.connecting import ConnectionType, Secret, Test
from whenthen.services.contract import Fields

type Scheme = Literal["github", "stripe", "slack", "shopify", "standard_webhooks", "meta", "hmac"]

_OF_ONE_SCHEME = {
    "verify_token": "meta",
    **dict.fromkeys(
        ("signature_header", "algorithm", "encoding", "prefix", "timestamp_header", "id_header", "signed_content",
         "type_header"),
        "hmac",
    ),
}  # fmt: skip
_NEEDED = {"verify_token", "signature_header"}


def _not_credentials(name: str) -> str:
    if name.lower() in CREDENTIAL_HEADERS:
        raise ValueError("holds a secret, which is never kept")
    return name


type Header = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9-]*$")]
type KeptHeader = Annotated[Header, AfterValidator(_not_credentials)]


class SignedWebhookFields(Fields):
    """How a sender signs. All but `scheme` and `secret` is for the scheme that its description names."""

    scheme: Annotated[Scheme, Field(title="Sender", description="hmac stands for any other sender that signs so.")]
    secret: Annotated[
        Secret,
        StringConstraints(min_length=1),
        Field(
            title="Signing secret",
            description="As the sender shows it: GitHub's webhook secret, Stripe's or Standard Webhooks' whsec_…, "
            "Slack's signing secret, Shopify's client secret, Meta's app secret.",
        ),
    ]
    verify_token: Annotated[
        Secret,
        Field(
            title="Verify token",
            description="meta: the text that you enter there beside the URL.",
            validate_default=True,
        ),
    ] = ""
    signature_header: Annotated[
        Header,
        Field(
            title="Header with the signature",
            description="hmac: for example X-Gitea-Signature.",
            validate_default=True,
        ),
    ] = ""
    algorithm: Annotated[Algorithm, Field(title="Hash", description="hmac.")] = "sha256"
    encoding: Annotated[Coding, Field(title="How the signature is written", description="hmac.")] = "hex"
    prefix: Annotated[
        str,
        StringConstraints(max_length=32, pattern=r"^[ -~]*$"),
        Field(title="Text before the signature", description="hmac: for example sha256=."),
    ] = ""
    timestamp_header: Annotated[
        Header,
        Field(
            title="Header with the time",
            description="hmac: epoch seconds or milliseconds, signed. What is more than five minutes off is refused.",
        ),
    ] = ""
    id_header: Annotated[
        KeptHeader,
        Field(title="Header with the delivery's id", description="hmac: what comes twice with one id is one event."),
    ] = ""
    signed_content: Annotated[
        str,
        StringConstraints(max_length=128),
        Field(
            title="What is signed",
            description="hmac: {body}, and {timestamp} and {id} where they are signed, too: {timestamp}.{body}",
            validate_default=True,
        ),
    ] = "{body}"
    type_header: Annotated[
        KeptHeader,
        Field(title="Header with the type of event", description="hmac: for example X-Gitea-Event."),
    ] = ""

    @field_validator("secret")
    @classmethod
    def _secret(cls, secret: str, info: ValidationInfo) -> str:
        if secret != secret.strip():
            raise ValueError("must not begin or end with spaces or line breaks")
        if info.data.get("scheme") == "standard_webhooks":
            read_standard_secret(secret)
        return secret

    @field_validator(*_OF_ONE_SCHEME)
    @classmethod
    def _of_its_scheme(cls, value: str, info: ValidationInfo) -> str:
        name = str(info.field_name)
        needs = _OF_ONE_SCHEME[name]
        scheme = info.data.get("scheme", needs)
        if scheme != needs and value != cls.model_fields[name].default:
            raise ValueError(f"is for {needs}, not for {scheme}")
        if scheme == needs and not value and name in _NEEDED:
            raise ValueError(f"is needed for {needs}")
        return value

    @field_validator("signed_content")
    @classmethod
    def _places(cls, content: str, info: ValidationInfo) -> str:
        if info.data.get("scheme") != "hmac":
            return content
        if content.count("{body}") != 1:
            raise ValueError("must hold {body} once")
        if ("{timestamp}" in content) != bool(info.data.get("timestamp_header")):
            raise ValueError("must hold {timestamp} when there is a header with the time, and only then")
        if "{id}" in content and not info.data.get("id_header"):
            raise ValueError("can hold {id} only with a header for it")
        return content


def _no_test(_fields: SignedWebhookFields) -> Test | None:
    """There is nobody to ask: the sender comes to us."""
    return None


CONNECTION = ConnectionType(
    fields=SignedWebhookFields,
    description="A sender that signs its webhooks. The connection has an address of its own, to be given to the "
    "sender.",
    test=_no_test,
)
