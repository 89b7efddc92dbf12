"""What the docs tell to type exists."""

import re

from tests.support.processes import ROOT
from tests.support.template import Template


def test_the_rebuild_pauses_what_is_there(translated: Template) -> None:
    """Given the resources that docs/rebuild.md pauses, then the template makes them, and nothing else calls them."""
    named = set(re.findall(r"\$\(resource (\w+)\)", (ROOT / "docs" / "rebuild.md").read_text()))
    kinds = ("AWS::Lambda::EventSourceMapping", "AWS::Events::Rule", "AWS::Scheduler::Schedule")
    made = {name for name, resource in translated["Resources"].items() if resource["Type"] in kinds}
    assert named == made
