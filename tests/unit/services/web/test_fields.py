"""Fields of the web service: what is refused, and at which field."""

import json
import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from whenthen.services.web.fields import JsonConditionFields, JsonValueFields, PageFields

CONDITION = {"url": "https://example.org", "expression": "a", "operator": "equals", "value": "1"}


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("url", "example.org", "http://"),
        ("url", "ftp://example.org", "http://"),
        ("url", "https://", "web address"),
        ("url", "http://[::1", "web address"),
        ("url", "https://user:word@example.org", "password"),
        ("expression", "a[", "character 3"),
        ("expression", "a..b", "character 3"),
        ("expression", "a b", "character 3"),
        ("expression", "'open", "character 1"),
        ("expression", "a = b", "character 3"),
        ("expression", "!" * 900 + "a", "nested"),
        ("expression", " ", "at least 1"),
        ("expression", "a" * 1001, "1000"),
        ("operator", "matches", "equals"),
    ],
)
def test_bad_values_are_told_at_their_field(field: str, value: Any, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        JsonConditionFields.model_validate({**CONDITION, field: value})
    (error,) = refused.value.errors()
    assert error["loc"] == (field,)
    assert said in error["msg"]


@pytest.mark.parametrize("value", ["", "warm", "NaN", "Infinity", "1e9999", "1,5"])
@pytest.mark.parametrize("operator", ["greater_than", "less_than"])
def test_more_and_less_need_a_number(operator: str, value: str) -> None:
    with pytest.raises(ValidationError, match="must be a number"):
        JsonConditionFields.model_validate({**CONDITION, "operator": operator, "value": value})
    assert JsonConditionFields.model_validate({**CONDITION, "value": value}).value == value


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("p[", "CSS selector"),
        ("p:nonsense", "CSS selector"),
        ("p" * 501, "500"),
    ],
)
def test_bad_selectors_are_told(selector: str, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        PageFields.model_validate({"url": "https://example.org", "selector": selector})
    (error,) = refused.value.errors()
    assert error["loc"] == ("selector",)
    assert said in error["msg"]


def test_the_source_is_the_url() -> None:
    fields = JsonValueFields.model_validate({"url": " https://example.org/a?b=c ", "expression": "a"})
    assert fields.source() == "https://example.org/a?b=c"


def test_the_catalogue_imports_no_library_of_these_services() -> None:
    code = "import whenthen.services.registry, sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"bs4", "soupsieve", "jmespath", "icalendar", "dateutil"} & set(json.loads(done.stdout))
