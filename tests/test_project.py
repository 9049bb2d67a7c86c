"""The project around the code: what a stranger reads first works, and what was drawn is enforced."""

import ast
import importlib.util
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pixivflow.cli.main import COMMANDS
from pixivflow.config.load import examine

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = ("actors", "pixivflow")


def fenced_under(heading: str) -> list[str]:
    """The fenced blocks between the heading and the next one."""
    section = re.split(r"^## ", README, flags=re.MULTILINE)
    (text,) = [each for each in section if each.startswith(f"{heading}\n")]
    return re.findall(r"^```\w*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def run(*command: str, cwd: Path = ROOT, **environ: str) -> subprocess.CompletedProcess[str]:
    both = {**os.environ, **environ}
    return subprocess.run(command, cwd=cwd, env=both, capture_output=True, text=True, check=False)


# --- the README ---


@pytest.mark.parametrize("heading", ["Run it", "Test it"])
def test_one_line_under_the_heading_does_it_all_with_an_environment_of_its_own(heading: str) -> None:
    (block,) = fenced_under(heading)
    assert block.count("\n") == 1
    assert "-m venv .venv" in block
    assert " install " in block
    assert run("bash", "-n", "-c", block).returncode == 0


def test_the_two_commands_do_not_share_an_environment() -> None:
    environments = [re.findall(r"-m venv (\S+)", block) for h in ("Run it", "Test it") for block in fenced_under(h)]
    assert len(environments) == 2
    assert environments[0] != environments[1]
    assert ".venv*/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


@pytest.mark.parametrize("heading", ["Run it", "Test it"])
def test_the_checks_run_the_command_that_is_read(heading: str) -> None:
    assert run(".ci/readme-command", heading).stdout == fenced_under(heading)[0]


def test_a_heading_that_is_gone_is_an_error_and_not_an_empty_command() -> None:
    assert run(".ci/readme-command", "Fly it").returncode != 0


def test_every_module_that_the_readme_starts_exists() -> None:
    named = re.findall(r"bin/python -m (\S+)", README)
    assert {"pytest", "tests.sabotage"} <= set(named)
    assert [name for name in named if importlib.util.find_spec(name) is None] == []


def test_every_file_that_the_readme_points_to_exists() -> None:
    named = [each.rstrip("/") for each in re.findall(r"`([\w./]+)`", README) if "/" in each]
    assert "docs/ABOUT.md" in named
    assert [each for each in named if not any((ROOT / f"{each}{end}").exists() for end in ("", ".py"))] == []


def test_the_configuration_in_the_readme_is_valid_and_needs_no_warning(tmp_path: Path) -> None:
    (example,) = fenced_under("A configuration")
    (tmp_path / "config.json").write_text(example, "utf-8")
    assert examine(tmp_path / "config.json", {}).findings == ()


def test_the_readme_names_every_command() -> None:
    assert set(re.findall(r"^\| `pixivflow (\w+)", README, flags=re.MULTILINE)) == set(COMMANDS)


def test_the_copy_that_the_readme_takes_of_a_living_ledger_holds_what_was_committed_last(tmp_path: Path) -> None:
    (command,) = fenced_under("Where data lives, and how to keep a copy")
    living = sqlite3.connect(tmp_path / "pixivflow.db", isolation_level=None)
    living.execute("PRAGMA journal_mode = WAL")
    living.execute("CREATE TABLE t (n)")
    living.execute("INSERT INTO t VALUES (71)")
    shutil.copy(tmp_path / "pixivflow.db", tmp_path / "by_cp.db")

    python, *arguments = shlex.split(command)
    assert python == "python3"
    copied = run(sys.executable, *arguments, cwd=tmp_path)
    living.close()

    assert copied.returncode == 0, copied.stderr
    assert rows_of(tmp_path / "copy.db") == [(71,)]
    with pytest.raises(sqlite3.OperationalError):  # why the README warns of cp
        rows_of(tmp_path / "by_cp.db")


def rows_of(path: Path) -> list[tuple[int]]:
    db = sqlite3.connect(path)
    try:
        return db.execute("SELECT n FROM t").fetchall()
    finally:
        db.close()


# --- the checks ---


def test_the_script_of_the_checks_can_be_run_and_knows_no_machine() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert run("bash", "-n", str(script)).returncode == 0
    body = script.read_text("utf-8").partition("\n")[2]  # without the line that names the shell
    assert re.findall(r"https?:|(?<![\w$}\"])/(?:home|root|work|tmp|opt|usr)\b", body) == []


@pytest.mark.parametrize("check", ["Test it", "ruff", "mypy", "lint-imports", "wheel"])
def test_the_script_of_the_checks_leaves_none_out(check: str) -> None:
    steps = [line for line in (ROOT / ".ci" / "run").read_text("utf-8").splitlines() if line.startswith("step ")]
    assert any(check in line for line in steps)


# --- who may import whom ---


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program that a test may break."""
    folder = tmp_path_factory.mktemp("tree")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


def broken_contracts(tree: Path) -> set[str]:
    program = "from importlinter.cli import lint_imports_command as lint; lint(['--no-cache'])"
    told = run(sys.executable, "-c", program, cwd=tree, PYTHONPATH=str(tree)).stdout
    assert "Contracts:" in told
    return set(re.findall(r"^(.*) BROKEN$", told, flags=re.MULTILINE))


def test_the_program_as_it_stands_breaks_no_contract(tree: Path) -> None:
    assert broken_contracts(tree) == set()


LAYERS = "a line imports only what stands below it"
ACTORS = "the actors know neither Pixiv nor SQL"
ROOMS = "the rooms decide and touch nothing outside"
SQL = "SQL stands in the ledger alone"
ASYNCIO = "no asyncio anywhere"


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        pytest.param("pixivflow/slots/broken.py", "import pixivflow.ledger", LAYERS, id="a room asks the ledger"),
        pytest.param("pixivflow/slots/broken.py", "import pixivflow.delivery", LAYERS, id="a room asks one above it"),
        pytest.param("pixivflow/ledger/broken.py", "import pixivflow.daemon", LAYERS, id="the ledger asks the daemon"),
        pytest.param("pixivflow/broken.py", "", LAYERS, id="a module has no layer"),
        pytest.param("actors/broken.py", "import pixivflow.ids", ACTORS, id="an actor knows Pixiv"),
        pytest.param("actors/kit/broken.py", "import msgspec", ACTORS, id="the kit leans on a library"),
        pytest.param("pixivflow/delivery/broken.py", "import httpx", ROOMS, id="a room talks over the network"),
        pytest.param("pixivflow/scheduling/broken.py", "import aiosqlite", SQL, id="a room drives the database"),
        pytest.param("pixivflow/daemon/broken.py", "import sqlite3", SQL, id="SQL outside the ledger"),
        pytest.param("pixivflow/ledger/broken.py", "import asyncio", ASYNCIO, id="asyncio in the ledger"),
        pytest.param("actors/broken.py", "import asyncio", ASYNCIO, id="asyncio in an actor"),
    ],
)
def test_an_import_against_the_drawing_is_caught(tree: Path, file: str, line: str, contract: str) -> None:
    path = tree / file
    path.write_text(f"{line}\n")
    try:
        assert contract in broken_contracts(tree)
    finally:
        path.unlink()


def test_the_actors_import_the_standard_library_and_trio_alone() -> None:
    allowed = {*sys.stdlib_module_names, "actors", "trio"}
    assert {name for path in sources("actors") for name in imported(path)} - allowed == set()


def imported(path: Path) -> Iterator[str]:
    """The top-level names that a file imports, also inside its functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0]


def test_a_new_room_cannot_forget_that_sql_stands_in_the_ledger() -> None:
    (contract,) = [each for each in PYPROJECT["tool"]["importlinter"]["contracts"] if each["name"] == SQL]
    parts = {f"pixivflow.{path.stem}" for path in (ROOT / "pixivflow").iterdir() if not path.name.startswith("_")}
    assert parts - set(contract["source_modules"]) == {"pixivflow.ledger", "pixivflow.py"}  # py.typed


# --- the distribution ---


def test_the_distribution_lists_every_package_there_is() -> None:
    there = {path.parent.relative_to(ROOT).as_posix().replace("/", ".") for path in sources(*PACKAGES)}
    assert set(PYPROJECT["tool"]["setuptools"]["packages"]) == there


@pytest.fixture(scope="module")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this program, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    built = run(sys.executable, "-m", "pip", "wheel", *options, "-w", str(folder), str(tree))
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("pixivflow-*.whl")
    return path


def test_the_wheel_holds_both_packages_with_their_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    ours = {path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()}
    assert held == {path.relative_to(ROOT).as_posix() for path in ours if "__pycache__" not in path.parts}
    assert {"actors/py.typed", "pixivflow/py.typed", "pixivflow/ledger/schema/0001_ground.sql"} <= held


def test_the_wheel_carries_its_licence_and_the_name_of_its_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        told = {name.partition(".dist-info/")[2]: archive.read(name).decode() for name in archive.namelist()}
    assert told["licenses/LICENSE"].startswith("MIT License\n\nCopyright (c) 2026 The pixivflow authors\n")
    assert "pixivflow = pixivflow.cli.main:main" in told["entry_points.txt"]
    assert "License-Expression: MIT" in told["METADATA"]


def test_the_wheel_unpacked_elsewhere_runs_and_brings_its_actors(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    version = run(sys.executable, "-m", "pixivflow", "--version", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert version.stdout == f"pixivflow {wheel.name.split('-')[1]}\n"
    actors = run(sys.executable, "-c", "import actors; print(actors.__file__)", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert actors.stdout == f"{tmp_path / 'actors' / '__init__.py'}\n"


# --- what is written about it ---


def test_every_dependency_has_its_line_among_the_decisions() -> None:
    page = (ROOT / "docs" / "decisions" / "0001-what-we-stand-on.md").read_text("utf-8")
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    wanted = [*PYPROJECT["project"]["dependencies"], *(each for extra in extras for each in extra)]
    names = [re.split(r"[\[<>=~ ]", each)[0] for each in wanted]
    rows = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| "))
    assert [name for name in names if not re.search(rf"\b{re.escape(name)}\b", rows)] == []


def test_every_waiting_change_is_one_sentence_under_a_known_heading() -> None:
    waiting = list((ROOT / "changelog.d").iterdir())
    assert waiting
    for path in waiting:
        assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md", path.name), path.name
        assert re.fullmatch(r"[^\n]+\.\n", path.read_text("utf-8")), path.name


HEADS = ("## Situation", "## Choice", "## What we gave up", "## How we would notice that it was wrong")


def test_every_decision_tells_what_was_given_up_and_how_an_error_would_show() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [page.name[:4] for page in pages] == [f"{number:04}" for number in range(1, len(pages) + 1)]
    for page in pages:
        lines = page.read_text("utf-8").splitlines()
        heads = [line for line in lines if line.startswith("#")]
        assert heads[0].startswith(f"# {page.name[:4]}: "), page.name
        assert set(HEADS) <= set(heads), page.name
