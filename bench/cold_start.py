"""What a cold start of the trigger function's module is made of: `python -m bench.cold_start`.

Each number is the median of five fresh interpreters that see what Lambda gives them and nothing else: the function's
folder, the layers of `.aws-sam/build` (made by scripts/sam-build) and boto3. Lambda adds its own start, about the
same for every Python function.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.support.emulator import runtime_packages

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / ".aws-sam" / "build"
RUNS = 5

_LINE = re.compile(r"import time:\s*(\d+) \|\s*(\d+) \|( *)(\S+)")


def interpreter(function: Path, layers: Path, runtime: Path, *arguments: str) -> str:
    """Run the isolated interpreter in the function's folder; what it writes to standard error."""
    path = [layers / "DependenciesLayer" / "python", layers / "WhenthenLayer" / "python", runtime]
    command = [str(Path(sys.base_prefix) / "bin" / "python3.13"), "-S", *arguments]
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": ":".join(map(str, path)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ALOPEX_URL": "http://127.0.0.1:1",
    }
    done = subprocess.run(command, cwd=function, env=environment, capture_output=True, text=True, check=True)
    return done.stderr


def by_package(report: str) -> Counter[str]:
    """Microseconds by top-level package of an -X importtime report; what a package pulls in counts as its own."""
    own: Counter[str] = Counter()
    for line in report.splitlines():
        if match := _LINE.match(line):
            own[match[4].partition(".")[0]] += int(match[1])
    return own


def group(own: Counter[str], layers: Path) -> Counter[str]:
    """The same with everything that is no package of ours or of a layer under one name."""
    packages = {path.stem.partition(".")[0] for path in (layers / "DependenciesLayer" / "python").iterdir()}
    packages |= {"whenthen", "app", "boto3", "botocore"}
    grouped: Counter[str] = Counter()
    for name, micros in own.items():
        grouped[name if name in packages else "standard library"] += micros
    return grouped


def median_by_package(reports: Sequence[Counter[str]]) -> dict[str, float]:
    """Milliseconds by package, medians, largest first."""
    names = set().union(*reports)
    medians = {name: statistics.median(report[name] for report in reports) / 1000 for name in names}
    return dict(sorted(medians.items(), key=lambda item: -item[1]))


def seconds(function: Path, layers: Path, runtime: Path, module: str) -> float:
    """Milliseconds that importing `module` takes, median, without the cost of measuring each import."""
    code = (
        f"import sys, time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t, file=sys.stderr)"
    )
    times = [float(interpreter(function, layers, runtime, "-c", code)) for _ in range(RUNS)]
    return statistics.median(times) * 1000


def main() -> None:
    """Print the tables."""
    if not BUILD.is_dir():
        sys.exit("Run scripts/sam-build first.")
    with tempfile.TemporaryDirectory() as directory:
        runtime = Path(directory) / "runtime"
        runtime.mkdir()
        runtime_packages(runtime)
        trigger = BUILD / "TriggerFunction"
        bare = Path(directory) / "bare"
        shutil.copytree(BUILD, bare, ignore=shutil.ignore_patterns("__pycache__"))

        print(f"Import time of the trigger function's module, ms, median of {RUNS} fresh processes\n")
        print("| what | ms |\n|---|---|")
        print(f"| as built, with bytecode in the layers | {seconds(trigger, BUILD, runtime, 'app'):.0f} |")
        print(f"| without bytecode (plain `sam build`) | {seconds(trigger, bare, runtime, 'app'):.0f} |")
        for name in ("WorkerFunction", "PollerFunction", "ConsoleFunction"):
            print(f"| {name} as built | {seconds(BUILD / name, BUILD, runtime, 'app'):.0f} |")
        print(f"| boto3, at the first queue or secret | {seconds(trigger, BUILD, runtime, 'boto3'):.0f} |")

        reports = []
        for _ in range(RUNS):
            report = interpreter(trigger, BUILD, runtime, "-X", "importtime", "-c", "import app")
            # What the interpreter imports before it comes to the module is not ours.
            reports.append(group(by_package(report[report.find("encodings") :]), BUILD))
        print("\nBy package, ms, each without what it imports of others (measuring slows it all)\n")
        print("| package | ms |\n|---|---|")
        for name, milliseconds in median_by_package(reports).items():
            if milliseconds >= 0.5:
                print(f"| {name} | {milliseconds:.1f} |")


if __name__ == "__main__":
    main()
