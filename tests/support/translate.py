"""Prints a SAM template as the CloudFormation that AWS makes of it, as JSON.

Runs in the environment of `scripts/sam`.
"""

import json
import sys
from pathlib import Path
from typing import Any

from samcli.lib.translate.sam_template_validator import SamTemplateValidator
from samcli.yamlhelper import yaml_parse


class NoManagedPolicies:
    """The translator asks AWS for them when a template names one by a short name; ours names none."""

    def load(self) -> dict[str, Any]:
        """Return none."""
        return {}


if __name__ == "__main__":
    template = yaml_parse(Path(sys.argv[1]).read_text())
    validator = SamTemplateValidator(template, NoManagedPolicies(), region="eu-central-1")
    print(json.dumps(yaml_parse(validator.get_translated_template_if_valid())))
