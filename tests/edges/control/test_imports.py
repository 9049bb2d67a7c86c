"""What is imported when: whoever asks `/health` first must not wait for what only later work needs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LATER = {
    "quart",
    "quart_trio",
    "werkzeug",
    "flask",
    "jinja2",
    "httpx",
    "prometheus_client",
    "watchfiles",
    "rich",
    "PIL",
}


def imported_by(module: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after it imported `module`."""
    program = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_door_opens_without_what_only_later_work_needs() -> None:
    assert imported_by("pixivflow.control.serve") & LATER == set()


@pytest.mark.parametrize("module", ["pixivflow.control.triggers", "pixivflow.control.status"])
def test_the_routes_themselves_know_no_framework(module: str) -> None:
    assert imported_by(module) & {"quart", "werkzeug", "hypercorn"} == set()


def test_quart_comes_with_the_application() -> None:
    assert "quart_trio" in imported_by("pixivflow.control.app")
