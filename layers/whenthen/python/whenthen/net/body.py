"""Reading a body that may be too long, break off, or be a decompression bomb."""

import zlib
from collections.abc import Iterable, Iterator

import httpcore2

# Most that one step of decompression may yield, so that memory stays near the limit whatever the ratio.
_PIECE_BYTES = 64 * 1024


def read_body(chunks: Iterable[bytes], *, gzipped: bool, limit_bytes: int) -> tuple[bytes, bool]:
    """Return the body, and whether it is cut short.

    The status is known by now, so a body that breaks off is a shorter body, not an error.

    Parameters
    ----------
    chunks:
        The content as it comes from the network.
    gzipped:
        Undo gzip. One layer only: each further layer multiplies the work that a small input can cause.
    limit_bytes:
        Most bytes to return, counted after decompression. Nothing is read beyond.
    """
    body = bytearray()
    try:
        for piece in _gunzipped(chunks) if gzipped else chunks:
            room = limit_bytes - len(body)
            body += piece[:room]
            if len(piece) > room:
                return bytes(body), True
    except (
        httpcore2.TimeoutException,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        zlib.error,
        EOFError,
    ):
        return bytes(body), True
    return bytes(body), False


def _gunzipped(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the decompressed content of all gzip members (RFC 1952 2.2) in small pieces."""
    inflater = None
    for chunk in chunks:
        rest = chunk
        while rest:
            if inflater is None or inflater.eof:
                inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
            yield inflater.decompress(rest, _PIECE_BYTES)
            rest = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    if inflater is not None and not inflater.eof:
        raise EOFError
