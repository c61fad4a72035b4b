"""Where the tests find the command line and the repository."""

import os
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
SMALL = str(REPOSITORY / "examples/drives/small.toml")
pytest_plugins = ["pytester"]


@pytest.fixture
def repository() -> Path:
    return REPOSITORY


@pytest.fixture
def cli() -> str:
    """The command line of the same build; without it, a test that compares says so."""
    found = os.environ.get("SSDLAB")
    if not found:
        pytest.skip("SSDLAB does not name the command line")
    return found


def run_cli(cli: str, *args: str, exits: "frozenset[int] | set[int]" = frozenset({0})) -> str:
    done = subprocess.run([cli, *args], capture_output=True, text=True)
    assert done.returncode in exits, done.stderr
    return done.stdout


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test that did not run says so in the words of the other tests of the repository."""
    place = os.environ.get("SSDLAB_SKIPS")
    if report.skipped and place and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        with open(place, "a", encoding="utf-8") as file:
            file.write(f"SKIPPED: python {report.nodeid}: {reason}\n")
