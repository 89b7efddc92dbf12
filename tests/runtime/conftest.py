"""Fixtures of tests on the functions as `sam build` made them."""

import shutil
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.alopex import AlopexServer, MakeServer
from tests.support.aws import Aws
from tests.support.deployment import Built, Deployment
from tests.support.emulator import Emulated, emulator_binary, runtime_packages
from tests.support.processes import ROOT, ProcessFailedError
from tests.support.sink import Sink
from tests.support.template import sam_environment, translate


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("runtime")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows the logs of its functions."""
    report = yield
    deployment: Any = getattr(item, "funcargs", {}).get("deployment")
    if report.failed and isinstance(deployment, Deployment):
        report.sections += [(path.name, path.read_text()[-8_000:]) for path in deployment.log_dir.glob("*.log")]
    return report


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The functions and layers, built now (seconds; the first time on a machine a minute)."""
    environment = sam_environment()
    done = subprocess.run([ROOT / "scripts" / "sam-build"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ProcessFailedError(f"scripts/sam-build failed:\n{done.stdout}{done.stderr}")
    # A copy: somebody may build again while the tests run.
    directory = tmp_path_factory.mktemp("built") / "build"
    shutil.copytree(ROOT / ".aws-sam" / "build", directory)
    return Built(
        directory,
        translate(directory / "template.yaml"),
        runtime_packages(tmp_path_factory.mktemp("runtime")),
        emulator_binary(environment),
    )


def deploy(built: Built, server: AlopexServer, directory: Path) -> Iterator[Deployment]:
    """Yield a deployment on `server` that is not migrated yet."""
    directory.mkdir()
    aws = Aws(built.template, api_key=server.api_key)
    deployment = Deployment(built, server, aws, directory)
    try:
        yield deployment
    finally:
        deployment.close()
        aws.close()


@pytest.fixture
def deployment(built: Built, server: AlopexServer, tmp_path: Path) -> Iterator[Deployment]:
    """The stack on a fresh real server, migrated, with an owner."""
    for deployed in deploy(built, server, tmp_path / "functions"):
        deployed.migrate()
        deployed.become("me")
        yield deployed


@pytest.fixture(scope="module")
def shared_deployment(
    built: Built, shared_server: AlopexServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """A migrated stack for a module of tests that break nothing. Each becomes an owner of its own."""
    for deployed in deploy(built, shared_server, tmp_path_factory.mktemp("shared") / "functions"):
        deployed.migrate()
        yield deployed


@pytest.fixture
def unsafe_deployment(built: Built, make_server: MakeServer, tmp_path: Path) -> Iterator[Deployment]:
    """The stack on a server with the concurrency it comes with, not migrated."""
    yield from deploy(built, make_server(max_concurrency=None), tmp_path / "functions")


@pytest.fixture
def sink() -> Iterator[Sink]:
    """Where actions go."""
    with Sink() as running:
        yield running


@pytest.fixture
def lone(built: Built, tmp_path: Path) -> Iterator[Any]:
    """`lone(name, layers=…)` starts a function without anything around it."""
    running: list[Emulated] = []

    def start(name: str, directory: Path) -> Emulated:
        function = Emulated(
            name,
            build=directory,
            runtime=built.runtime,
            emulator=built.emulator,
            environment={},
            log_dir=tmp_path,
            handler="app.handler",
            timeout=10,
            memory=512,
        )
        running.append(function)
        function.start()
        return function

    yield start
    for function in running:
        function.kill9()
