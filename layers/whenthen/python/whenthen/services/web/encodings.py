"""Which encoding a document is in."""

import re

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.ASCII | re.IGNORECASE)

# Encodings that documents on the web are in. Python knows more, some of which are no charsets (unicode_escape)
# or take quadratic time (punycode).
_KNOWN = re.compile(
    r"utf-?8|utf-?16(le|be)?|us-ascii|ascii|latin-?[0-9]+|iso-?8859-[0-9]+|(windows-|cp)125[0-8]|windows-874|koi8-[ru]"
    r"|shift[_-]jis|euc-(jp|kr)|iso-2022-(jp|kr)|gb2312|gbk|gb18030|big5(-hkscs)?|macintosh"
)
_LATIN = re.compile(r"us-ascii|ascii|latin-?1|iso-?8859-1")


def charset(text: str) -> str:
    """Return the charset that a Content-Type or a meta element names, as Python's name; empty for none we read.

    What calls itself Latin-1 is Windows-1252, as browsers have it (Encoding Standard, section 4.2).
    """
    found = _CHARSET.search(text)
    name = found[1].lower() if found else ""
    if not _KNOWN.fullmatch(name):
        return ""
    return "cp1252" if _LATIN.fullmatch(name) else name
