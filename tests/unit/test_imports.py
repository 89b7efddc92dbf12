"""The trigger function's cold start: what it must not import before it needs it."""

import json
import os
import subprocess
import sys

from tests.support.processes import ROOT

HEAVY = {
    "boto3",
    "botocore.session",  # Powertools imports the empty package `botocore`, which costs nothing.
    "click",
    "cryptography",
    "feedparser",
    "httpcore2",
    "httpx2",
    "jinja2",
    "minijinja",
    "uvicorn",
}


def loaded(code: str) -> set[str]:
    """Names of all modules after `code` has run in a fresh interpreter in the trigger function's folder."""
    report = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        cwd=ROOT / "functions" / "trigger",
        env=os.environ | {"ALOPEX_URL": "http://127.0.0.1:1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_the_trigger_function_imports_nothing_heavy() -> None:
    modules = loaded("import app")
    assert "whenthen.web.hooks" in modules
    assert modules & HEAVY == set()


def test_heavy_imports_are_seen() -> None:
    assert loaded("import app, boto3, minijinja") & HEAVY == {"boto3", "botocore.session", "minijinja"}
