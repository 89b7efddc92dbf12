"""Texts and numbers that stores trip over, as Hypothesis strategies."""

import json

from hypothesis import strategies as st

FRAGMENTS = [
    "'", "''", '"', "\\", "\\'", "\n", "\r\n", "\t", ";", "--", "/*", "*/", "?", ":x", "$1", "{slot}", "%s",
    "CAST('x' AS TEXT)", "'; DROP TABLE meta; --", " AS TEXT)", "NULL", "\x01", "\x1b[0m", "\x7f", "\u0085",
    "\u2028", "\ufeff", "\ufffe", "🚪", "👩‍👩‍👧", "\u202eשלום", "قلب", "e\u0301", "\U0010ffff",
    "table 'x' not found", "division by zero", "PRIMARY KEY constraint violated on columns: [\"x\"]",
]  # fmt: skip
TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
HOSTILE = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS) | TEXT, max_size=8).map("".join),
    JSON.map(json.dumps),
    JSON.map(lambda value: json.dumps(value, ensure_ascii=False)),
    st.sampled_from(FRAGMENTS).map(lambda fragment: fragment * (20_000 // len(fragment.encode()))),
)
INTEGER = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), -1, 0, 2**53 + 1, 2**63 - 1])
