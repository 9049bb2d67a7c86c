"""The command line answers at once: what it does not need is not imported."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pixivflow import __version__
from pixivflow.cli.main import COMMANDS

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


def test_the_help_names_every_command_and_only_those_that_exist() -> None:
    told = _run("-m", "pixivflow", "--help").stdout.partition("Commands:")[2]
    named = [line.split()[0] for line in told.splitlines() if line.startswith("  ") and not line.startswith("   ")]
    assert named == sorted(COMMANDS)
    for name, (module, _) in COMMANDS.items():
        assert importlib.import_module(module).command.name == name


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_of_a_command_loads_no_library_of_the_work_either(name: str) -> None:
    ended = _run("-c", LOADED, name, "--help")
    assert ended.stdout.startswith(f"Usage: pixivflow {name}")
    assert SLOW.intersection(json.loads(ended.stdout.splitlines()[-1])) == set()


@pytest.mark.case("operate", 49)
@pytest.mark.parametrize(
    ("given", "meant"), [("dowload", "download"), ("stats", "status"), ("demos", "demo"), ("frobnicate", None)]
)
def test_a_command_that_does_not_exist_is_an_error_with_the_nearest_that_does(given: str, meant: str | None) -> None:
    ended = _run("-m", "pixivflow", given)
    assert (ended.returncode, ended.stdout) == (1, "")
    near = f", did you mean {meant}?" if meant else "."
    assert ended.stderr == f"❌ Unknown command {given!r}{near} `pixivflow --help` lists all.\n"


@pytest.mark.parametrize(
    "arguments",
    [("demo", "--frobnicate"), ("download",), ("status", "--last", "0"), ("sandbox", "--port", "x"), ("--frobnicate",)],
    ids=" ".join,
)
def test_a_wrong_flag_is_an_error_that_names_it_and_not_a_traceback(arguments: tuple[str, ...]) -> None:
    ended = _run("-m", "pixivflow", *arguments)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("❌ Invalid arguments:\n  ")
    assert "Usage: pixivflow" in ended.stderr
    assert "Traceback" not in ended.stderr
