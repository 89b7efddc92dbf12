"""Fixtures of the console's pages."""

import pytest

from tests.support.embedded import House
from tests.support.pages import Pages


@pytest.fixture
def pages(house: House) -> Pages:
    """A browser in which the house's owner is signed in."""
    made = Pages(house)
    assert made.sign_up().status == 200
    return made
