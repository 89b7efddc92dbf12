"""Mail that a real mail server gets, read as mail programs do."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.mail_server import MailServer, Received
from tests.support.sink import Reply, Sink
from tests.unit.services.email.conftest import Send, prepared
from whenthen.engine.retry import NeverSent
from whenthen.errors import FieldError
from whenthen.model.templates import render
from whenthen.net import Mail, MailAnswer, MailStep
from whenthen.services.email.answers import read_mail
from whenthen.services.email.attachments import MAX_ATTACHMENT_BYTES
from whenthen.services.email.connection import EmailAccount
from whenthen.services.email.fields import SendEmailFields
from whenthen.services.work import Meaning, Reading

ACCOUNT = EmailAccount(sender="me@example.org", host="mail.example.org")
HEADERS = ["auto-submitted", "content-transfer-encoding", "content-type", "date", "from", "message-id", "mime-version",
           "subject", "to"]  # fmt: skip


def text_of(part: Any) -> str:
    """The part's text, with plain ends of lines."""
    return str(part.get_content()).replace("\r\n", "\n")


def test_a_mail_arrives_as_it_was_written(send: Send, server: MailServer) -> None:
    sent = send(
        sender_name='Ünï "Me", Inc.',
        to="Günther Groß <ada@bücher.example>, grace@example.org",
        cc='"Hopper, Grace" <grace@example.org>',
        bcc="hidden@example.org",
        reply_to="answers@example.org",
        subject="Größe: 5 €",
        body="Hallo,\n.\nFrom here: größe =3D\n" + "lang " * 300,
    )
    assert sent.result == Reading(Meaning.SUCCEEDED)
    [received] = server.received
    message = received.message
    assert received.recipients == ("ada@xn--bcher-kva.example", "grace@example.org", "hidden@example.org")
    assert message["From"].addresses[0].display_name == 'Ünï "Me", Inc.'
    assert [address.display_name for address in message["To"].addresses] == ["Günther Groß", ""]
    assert [(a.display_name, a.addr_spec) for a in message["Cc"].addresses] == [("Hopper, Grace", "grace@example.org")]
    assert message["Reply-To"] == "answers@example.org"
    assert message["Subject"] == "Größe: 5 €"
    assert message["Date"] == "Sat, 29 Nov 2025 18:20:00 +0000"
    assert message["Auto-Submitted"] == "auto-generated"
    assert b"hidden" not in received.content
    assert text_of(message) == "Hallo,\n.\nFrom here: größe =3D\n" + "lang " * 300 + "\n"


def test_a_repeat_is_the_same_mail(send: Send, server: MailServer) -> None:
    for key in ("one.0", "one.0", "two.0"):
        send(key=key, html="<b>x</b>")
    first, again, other = (received.content for received in server.received)
    assert first == again != other
    ids = {received.message["Message-ID"] for received in server.received}
    assert len(ids) == 2
    assert all(identity.endswith("@example.org>") for identity in ids)


@pytest.mark.parametrize("body", ["", "my own text"])
def test_html_comes_with_text(send: Send, server: MailServer, body: str) -> None:
    page = "<style>p {}</style><h1>Hi</h1><p>See <a href='https://example.org/'>this &amp; that</a>.<br>Bye</p>"
    send(body=body, html=page)
    message = server.received[0].message
    assert message.get_content_type() == "multipart/alternative"
    text, html = message.iter_parts()
    assert text_of(html) == page + "\n"
    expected = body or "Hi\n\nSee this & that (https://example.org/).\nBye"
    assert text_of(text) == expected + "\n"


def test_long_and_odd_subjects(send: Send, server: MailServer) -> None:
    for subject in ("x" * 1000, "=?utf-8?q?not=20encoded?=", "a\r\nBcc: x@example.org", "  spaces  ", "é" * 1000):
        send(subject=subject)
    subjects = [received.message["Subject"] for received in server.received]
    assert subjects == [
        "x" * 249 + "…", "=?utf-8?q?not=20encoded?=", "a Bcc: x@example.org", "spaces", "é" * 249 + "…",
    ]  # fmt: skip
    assert all(received.header_names == HEADERS for received in server.received)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"to": "ada"}, "to"),
        ({"to": " , "}, "to"),
        ({"cc": "x"}, "cc"),
        ({"bcc": "a@b.org c@d.org"}, "bcc"),
        ({"reply_to": "@"}, "reply_to"),
        ({"to": ",".join(f"a{number}@example.org" for number in range(51))}, "to"),
        ({"attachment_url": "file:///etc/passwd"}, "attachment_url"),
    ],
)
def test_bad_fields_are_named(fields: dict[str, str], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        prepared(ACCOUNT, **fields)
    assert [error["loc"] for error in refused.value.errors()] == [(field,)]


def test_copies_count_as_recipients() -> None:
    many = [",".join(f"{letter}{number}@example.org" for number in range(20)) for letter in "abc"]
    with pytest.raises(FieldError, match="more than 50"):
        prepared(ACCOUNT, to=many[0], cc=many[1], bcc=many[2])


class Collecting:
    """A wire that keeps the mail."""

    def __init__(self) -> None:
        self.mails: list[Mail] = []

    def send(self, *_: object, **__: object) -> None:
        raise AssertionError("there is nothing to fetch")

    def mail(self, mail: Mail) -> MailAnswer:
        self.mails.append(mail)
        return MailAnswer(MailStep.CONTENT, 250, "ok")


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60) | st.sampled_from(
    [
        "\r\nBcc: x@evil.org",
        ", x@evil.org",
        "> <x@evil.org",
        '"',
        "\\",
        "=?utf-8?q?=0D=0ABcc:x@evil.org?=",
        "\u2028",
        ".",
    ]
)


@given(texts, texts, texts)
@settings(max_examples=300, deadline=None)
def test_no_ingredient_adds_a_header_or_a_recipient(name: str, subject: str, text: str) -> None:
    """Whatever comes with an event, the mail has the headers and the recipients that its owner gave it (E08)."""
    written = {
        "to": "{{Name}} <ada@example.org>, Grace {{Name}} <grace@example.org>",
        "reply_to": "Support {{Name}} <answers@example.org>",
        "subject": "About {{Subject}}",
        "body": "{{Text}}",
        "html": "<p>{{Text}}</p>",
    }
    encodings = SendEmailFields.model_validate(written).encodings()
    ingredients = {"Name": name, "Subject": subject, "Text": text}
    fields = {
        field: render(template, ingredients, encodings[field]).text if field in encodings else text
        for field, template in written.items()
    }
    wire = Collecting()
    prepared(ACCOUNT, **fields).run(wire)  # type: ignore[arg-type]
    [mail] = wire.mails
    assert mail.recipients == ("ada@example.org", "grace@example.org")
    assert mail.content.isascii()
    received = Received(mail.sender, mail.recipients, mail.content, "", in_tls=False)
    expected = sorted({*HEADERS, "reply-to"} - {"content-transfer-encoding"})
    assert received.header_names == expected
    message = received.message
    assert [address.addr_spec for address in message["To"].addresses] == list(mail.recipients)
    assert [address.addr_spec for address in message["Reply-To"].addresses] == ["answers@example.org"]
    assert [part.get_content_type() for part in message.walk()] == ["multipart/alternative", "text/plain", "text/html"]


@given(texts)
def test_an_ingredient_is_one_recipient_or_none(text: str) -> None:
    rendered = render("{{To}}", {"To": text}, SendEmailFields(to="a@b.org").encodings()["to"]).text
    try:
        fields = {"to": rendered}
        wire = Collecting()
        prepared(ACCOUNT, **fields).run(wire)  # type: ignore[arg-type]
    except (ValidationError, FieldError):
        return
    assert len(wire.mails[0].recipients) == 1


@pytest.mark.parametrize(
    ("headers", "path", "name", "media_type"),
    [
        ((("Content-Type", "image/png"),), "/photo.png", "photo.png", "image/png"),
        ((("Content-Type", "text/html; charset=klingon"),), "/a%20b.html", "a b.html", "application/octet-stream"),
        ((("Content-Disposition", 'attachment; filename="../../etc/passwd"'),), "/x", "passwd",
         "application/octet-stream"),
        ((("Content-Disposition", "attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe.pdf"),), "/x", "größe.pdf",
         "application/octet-stream"),
        ((("Content-Type", "message/rfc822"),), "/", "attachment.eml", "application/octet-stream"),
        ((("Content-Type", "nonsense"),), "/...", "attachment.bin", "application/octet-stream"),
        ((("Content-Type", "image/png"),), f"/{'x' * 500}.png", f"{'x' * 84}.png", "image/png"),
    ],
)  # fmt: skip
def test_an_attachment_from_a_url(
    send: Send,
    server: MailServer,
    sink: Sink,
    headers: tuple[tuple[str, str], ...],
    path: str,
    name: str,
    media_type: str,
) -> None:
    sink.reply(path, [Reply(headers=headers, body=bytes(range(256)))])
    assert send(attachment_url=sink.url + path, html="<p>see</p>").result == Reading(Meaning.SUCCEEDED)
    message = server.received[0].message
    [attachment] = message.iter_attachments()
    assert (attachment.get_filename(), attachment.get_content_type()) == (name, media_type)
    assert attachment.get_content() == bytes(range(256))
    assert message.get_body().get_content_type() == "text/html"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("reply", "meaning"),
    [
        (Reply(status=404), Meaning.FAILED),
        (Reply(status=401), Meaning.FAILED),
        (Reply(status=503), Meaning.RETRY),
        (Reply(body=b"x" * (MAX_ATTACHMENT_BYTES + 1)), Meaning.FAILED),
    ],
)
def test_without_its_attachment_a_mail_is_not_sent(
    send: Send, server: MailServer, sink: Sink, reply: Reply, meaning: Meaning
) -> None:
    sink.reply("/file", [reply])
    sent = send(attachment_url=f"{sink.url}/file")
    assert isinstance(sent.result, Reading)
    assert sent.result.meaning is meaning
    assert "attachment" in sent.reason
    assert server.received == []


def test_an_attachment_may_be_as_large_as_promised(send: Send, server: MailServer, sink: Sink) -> None:
    sink.reply("/file", [Reply(body=b"x" * MAX_ATTACHMENT_BYTES)])
    assert send(attachment_url=f"{sink.url}/file").result == Reading(Meaning.SUCCEEDED)
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        (MailAnswer(MailStep.CONTENT, 250, "ok"), Meaning.SUCCEEDED),
        (MailAnswer(MailStep.CONTENT, 554, "spam"), Meaning.FAILED),
        (MailAnswer(MailStep.CONTENT, 452, "full"), Meaning.RETRY),
        (MailAnswer(MailStep.GREETING, 421, "busy"), Meaning.RETRY),
        (MailAnswer(MailStep.GREETING, 554, "no"), Meaning.FAILED),
        (MailAnswer(MailStep.GREETING, -1, "HTTP"), Meaning.FAILED),
        (MailAnswer(MailStep.LOGIN, 535, "5.7.8 bad credentials"), Meaning.UNAUTHORIZED),
        (MailAnswer(MailStep.LOGIN, 534, "5.7.9 app password required"), Meaning.UNAUTHORIZED),
        (MailAnswer(MailStep.LOGIN, 454, "later"), Meaning.RETRY),
        (MailAnswer(MailStep.SENDER, 530, "log in first"), Meaning.UNAUTHORIZED),
        (MailAnswer(MailStep.SENDER, 553, "not yours"), Meaning.FAILED),
        (MailAnswer(MailStep.RECIPIENTS, 550, "unknown"), Meaning.FAILED),
        (MailAnswer(MailStep.RECIPIENTS, 450, "greylisted"), Meaning.RETRY),
    ],
)
def test_what_a_mail_servers_answer_means(answer: MailAnswer, meaning: Meaning) -> None:
    reading = read_mail(answer)
    assert reading.meaning is meaning
    assert (answer.said in reading.reason) == (meaning is not Meaning.SUCCEEDED)


def test_who_was_refused_is_told_with_a_mail_that_was_sent(send: Send, server: MailServer) -> None:
    server.refusals = {"gone@example.org": "550 5.1.1 no such user"}
    sent = send(to="ada@example.org, gone@example.org")
    assert isinstance(sent.result, Reading)
    assert sent.result.meaning is Meaning.SUCCEEDED
    assert "gone@example.org (550 5.1.1 no such user)" in sent.reason
    assert sent.answer is not None
    assert sent.answer.status == 250


def test_nothing_is_repeated_that_may_have_arrived() -> None:
    assert not prepared(ACCOUNT).repeatable


def test_a_server_that_lacks_something_is_final(send: Send, server: MailServer) -> None:
    sent = send(to="gü@example.org")
    assert sent.result == NeverSent(permanent=True)
    assert "letters" in sent.reason
