"""Settings: README's table is the model's, and bad values are told by name."""

import re

import pytest

from tests.support.processes import ROOT
from whenthen.errors import NotConfigured
from whenthen.settings import Settings


def table_rows() -> dict[str, tuple[str, str]]:
    """Return README's settings table: default and description by variable."""
    section = (ROOT / "README.md").read_text("utf-8").partition("## Settings")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", section, re.MULTILINE)
    return {name: (default.strip("`"), description) for name, default, description in rows}


def shown(value: object) -> str:
    """Return a default as README shows it."""
    if value in ("", None, ()) or "SecretStr" in repr(value):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_readme_documents_every_setting() -> None:
    expected = {
        str(field.alias): (shown(field.default), str(field.description)) for field in Settings.model_fields.values()
    }
    assert table_rows() == expected


def test_every_variable_is_ours_by_name() -> None:
    for field in Settings.model_fields.values():
        assert str(field.alias).startswith(("WHENTHEN_", "ALOPEX_"))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("WHENTHEN_PORT", "eighty"),
        ("WHENTHEN_PORT", "70000"),
        ("WHENTHEN_ALLOWED_NETWORKS", "10.0.0.1/8"),
        ("WHENTHEN_ALLOWED_NETWORKS", "everything"),
        ("WHENTHEN_MAX_BODY_BYTES", "0"),
        ("WHENTHEN_INTAKE_TIMEOUT_SECONDS", "-1"),
    ],
)
def test_a_bad_value_is_told_by_name(variable: str, value: str) -> None:
    with pytest.raises(NotConfigured, match=variable):
        Settings.read({variable: value})


def test_an_empty_variable_counts_as_absent() -> None:
    assert Settings.read({"WHENTHEN_PORT": "", "ALOPEX_URL": ""}) == Settings.read({})


def test_networks_are_read_from_a_list() -> None:
    networks = Settings.read({"WHENTHEN_ALLOWED_NETWORKS": "10.0.0.0/8, fd00::/8,"}).allowed_networks
    assert [str(network) for network in networks] == ["10.0.0.0/8", "fd00::/8"]


def test_the_key_is_not_shown() -> None:
    assert "swordfish" not in repr(Settings.read({"ALOPEX_API_KEY": "swordfish"}))
