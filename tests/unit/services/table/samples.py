"""Samples of the table service."""

from tests.support.checking import NOW
from tests.support.owned import Kept
from tests.support.samples import Sample

_ROWS = ((NOW - 1, {"What": "Tea"}), (NOW + 60_000, {"What": "Coffee", "Price": "3,20"}), (NOW + 60_001, {"What": ""}))

SAMPLES = {
    "new_row": Sample({"table": "Expenses"}, owned=Kept(_ROWS)),
    "add_row": Sample({"table": "Expenses", "values": {"What": "{{Value1}}", "Price": "3,20"}}),
    "find_rows": Sample({"table": "Expenses", "column": "What", "value": "{{Value1}}", "limit": 5}),
}
