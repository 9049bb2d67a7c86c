"""The command line answers at once: what it does not need is not imported."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pixivflow import __version__

ROOT = Path(__file__).parents[2]

SLOW = {
    "PIL",
    "aiosqlite",
    "asyncio",
    "cronsim",
    "httpx",
    "hypercorn",
    "msgspec",
    "prometheus_client",
    "quart",
    "quart_trio",
    "rich",
    "sqlite3",
    "structlog",
    "trio",
    "watchfiles",
}

LOADED = """
import json, sys
from pixivflow.cli.main import main
try:
    main(sys.argv[1:], prog_name="pixivflow")
finally:
    print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("flag", ["--version", "--help", "-v", "-h"])
def test_a_flag_that_needs_no_work_loads_no_library_of_the_work(flag: str) -> None:
    loaded = json.loads(_run("-c", LOADED, flag).stdout.splitlines()[-1])
    assert "click" in loaded
    assert SLOW.intersection(loaded) == set()


@pytest.mark.parametrize("flag", ["--version", "-v"])
def test_the_command_tells_its_version(flag: str) -> None:
    ended = _run("-m", "pixivflow", flag)
    assert (ended.returncode, ended.stdout) == (0, f"pixivflow {__version__}\n")


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ()], ids=["--help", "-h", "nothing"])
def test_the_command_tells_what_it_takes(arguments: tuple[str, ...]) -> None:
    ended = _run("-m", "pixivflow", *arguments)
    assert ended.returncode == 0
    assert ended.stdout.startswith("Usage: pixivflow")
    assert "--version" in ended.stdout


def test_a_command_that_does_not_exist_is_an_error_and_not_a_silence() -> None:
    ended = _run("-m", "pixivflow", "frobnicate")
    assert ended.returncode == 2
    assert "frobnicate" in ended.stderr
