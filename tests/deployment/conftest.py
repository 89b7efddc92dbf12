"""Fixtures of tests on the template."""

import pytest

from tests.support import template as rules
from tests.support.processes import ROOT
from tests.support.template import Template


@pytest.fixture(scope="package")
def translated() -> Template:
    """What AWS makes of the template. Copy it before you break it."""
    return rules.translate(ROOT / "template.yaml")
