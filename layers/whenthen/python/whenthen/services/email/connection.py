"""What sending mail needs to know of an owner's account."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo

from whenthen.services.addresses import web_address
from whenthen.services.connecting import Secret
from whenthen.services.contract import Fields
from whenthen.services.email.addresses import ascii_domain, read_address

_HOST = re.compile(r"[A-Za-z0-9._:-]{1,253}")
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]{1,2}")


def _sender(text: str) -> str:
    address = read_address(text)
    if address.name:
        raise ValueError("must be the address alone; its name is a field of its own")
    return address.spec


def _one_line(text: str) -> str:
    if any(not character.isprintable() for character in text):
        raise ValueError("must be one line")
    return text


def _needed(kind: str, text: str, info: ValidationInfo) -> str:
    if info.data.get("kind") == kind and not text:
        raise ValueError(f"is needed for {'a mail server' if kind == 'smtp' else 'Amazon SES'}")
    return text


def _for_smtp(text: str, info: ValidationInfo) -> str:
    return _needed("smtp", text, info)


def _for_ses(text: str, info: ValidationInfo) -> str:
    return _needed("ses", text, info)


def _host(text: str) -> str:
    if not text:
        return text
    name = text if text.isascii() else ascii_domain(text)
    if not _HOST.fullmatch(name):
        raise ValueError("must be the name of a mail server, such as smtp.example.org")
    return name


def _secure(user: str, info: ValidationInfo) -> str:
    if user and info.data.get("security") == "none":
        raise ValueError("must be left out without security: the password would be sent for everybody to read")
    return user


def _plain_password(password: str, info: ValidationInfo) -> str:
    if info.data.get("user") and not password:
        raise ValueError("is needed with a user name")
    if not password.isascii():
        raise ValueError("must be of letters a to z, digits and signs: mail servers agree on no other")
    return password


def _region(text: str) -> str:
    if text and not _REGION.fullmatch(text):
        raise ValueError("must be a region of AWS, such as eu-west-1")
    return text


def _endpoint(text: str) -> str:
    return web_address(text).rstrip("/") if text else text


class EmailAccount(Fields):
    """Where mail is sent from, and how."""

    kind: Annotated[
        Literal["smtp", "ses"],
        Field(title="Sent by", description="smtp: a mail server. ses: Amazon Simple Email Service."),
    ] = "smtp"
    sender: Annotated[
        str,
        StringConstraints(min_length=3, max_length=320, strip_whitespace=True),
        AfterValidator(_sender),
        Field(title="Sender", description="The address that mail comes from. It must be one that the account may use."),
    ]
    sender_name: Annotated[
        str,
        StringConstraints(max_length=100, strip_whitespace=True),
        AfterValidator(_one_line),
        Field(title="Sender's name"),
    ] = ""
    host: Annotated[
        str,
        StringConstraints(max_length=253, strip_whitespace=True),
        AfterValidator(_host),
        AfterValidator(_for_smtp),
        Field(title="Mail server", description="Such as smtp.example.org.", validate_default=True),
    ] = ""
    port: Annotated[
        int,
        Field(title="Port", description="Mostly 587 with starttls, 465 with tls.", ge=1, le=65535),
    ] = 587
    security: Annotated[
        Literal["starttls", "tls", "none"],
        Field(title="Security", description="none is for a mail server of your own that needs no password."),
    ] = "starttls"
    user: Annotated[
        str,
        StringConstraints(max_length=320, strip_whitespace=True),
        AfterValidator(_one_line),
        AfterValidator(_secure),
        Field(title="User name", description="Of the mail server; often the address."),
    ] = ""
    password: Annotated[
        Secret,
        AfterValidator(_one_line),
        AfterValidator(_plain_password),
        Field(
            title="Password",
            description="Of the mail server; many providers want an app password here.",
            validate_default=True,
        ),
    ] = ""
    region: Annotated[
        str,
        StringConstraints(max_length=32, strip_whitespace=True),
        AfterValidator(_region),
        AfterValidator(_for_ses),
        Field(title="AWS region", description="Where Amazon SES is set up, such as eu-west-1.", validate_default=True),
    ] = ""
    access_key_id: Annotated[
        str,
        StringConstraints(max_length=128, strip_whitespace=True),
        AfterValidator(_one_line),
        AfterValidator(_for_ses),
        Field(title="AWS access key id", description="Of a user that may ses:SendEmail.", validate_default=True),
    ] = ""
    secret_access_key: Annotated[
        Secret, AfterValidator(_for_ses), Field(title="AWS secret access key", validate_default=True)
    ] = ""
    endpoint: Annotated[
        str,
        StringConstraints(max_length=1024, strip_whitespace=True),
        AfterValidator(_endpoint),
        Field(title="Endpoint", description="Another address of the SES API, for a private endpoint."),
    ] = ""
