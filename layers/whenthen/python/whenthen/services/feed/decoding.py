"""From bytes to text: which encoding a feed really has."""

import codecs
import re
from collections.abc import Iterator

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# An ASCII character comes first, so where its zeros are tells the width (RFC 4627, section 3).
_ZEROS = (
    (re.compile(rb"[^\0]\0\0\0"), "utf-32-le"),
    (re.compile(rb"\0\0\0[^\0]"), "utf-32-be"),
    (re.compile(rb"[^\0]\0"), "utf-16-le"),
    (re.compile(rb"\0[^\0]"), "utf-16-be"),
)

_CHARSET = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9][A-Za-z0-9._:-]{0,39})""", re.IGNORECASE)
_DECLARATION = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9][A-Za-z0-9._:-]{0,39})["']""")

_MULTIBYTE = re.compile(r"gb18030|gbk|gb2312|big5.*|cp(932|949|950)|euc_.*|iso2022_.*|johab|hz|shift_jis.*")
# Python's names. Its other codecs are no encodings of the web, and some of them take quadratic time.
_KNOWN = re.compile(
    rf"utf-8|utf-(16|32)(-le|-be)?|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|tis-620|{_MULTIBYTE.pattern}"
)

# What these labels mean in practice: supersets (WHATWG Encoding Standard, section 4.2).
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML 1.0, section 2.2


def decode(body: bytes, content_type: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of a document, without characters that XML forbids, and what was wrong with it.

    A byte order mark decides, else the header's charset and the XML declaration (RFC 7303, section 3). These two
    are often wrong, while bytes that are UTF-8 by accident hardly exist, so UTF-8 is tried before them, unless they
    name an encoding of several bytes. What nothing fits is windows-1252 with replacement characters.

    Parameters
    ----------
    body:
        The document.
    content_type:
        Its Content-Type header, empty when it has none.
    """
    notes = []
    mark, encoding = next(((mark, name) for mark, name in _BOMS if body.startswith(mark)), (b"", ""))
    encoding = encoding or next((name for zeros, name in _ZEROS if zeros.match(body)), "")
    if encoding:
        text, replaced = _decode(body[len(mark) :], [encoding], encoding)
    else:
        declared = list(dict.fromkeys(_declared(body, content_type)))
        accept_utf8 = not declared or not all(map(_MULTIBYTE.fullmatch, declared))
        text, replaced = _decode(body, [*(["utf-8"] if accept_utf8 else []), *declared, "utf-8", "cp1252"], "cp1252")
    if replaced:
        notes.append("It has bytes that are no text in its encoding.")
    text = text.removeprefix("\ufeff")
    clean = without_forbidden(text)
    if len(clean) != len(text):
        notes.append("It has control characters, which are left out.")
    return clean, tuple(notes)


def without_forbidden(text: str) -> str:
    """Return the text without the characters that XML forbids, which are also those that can't be stored."""
    return _FORBIDDEN.sub("", text)


def _declared(body: bytes, content_type: str) -> Iterator[str]:
    header, declaration = _CHARSET.search(content_type), _DECLARATION.search(body[:1024])
    for label in (header[1] if header else "", declaration[1].decode("ascii") if declaration else ""):
        try:
            name = codecs.lookup(label).name if label else ""
        except LookupError:
            continue
        if _KNOWN.fullmatch(name):
            yield _SUPERSETS.get(name, name)


def _decode(body: bytes, encodings: list[str], last: str) -> tuple[str, bool]:
    for encoding in encodings:
        try:
            return body.decode(encoding), False
        except UnicodeDecodeError:
            continue
    return body.decode(last, "replace"), True
