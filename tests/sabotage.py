"""`python -m tests.sabotage [--only NAME] [--list] [--jobs N]`: can the tests fail?

Each row is tried on a copy of the tree of its own: `caught` when a named test fails, `SURVIVED` when all pass, `hung`
when they do not end, `UNCLEAR` when they could not be run (the patched file does not import). Before that the same
tests must pass on an unbroken copy. Exit 0 when every row was caught or hung: a suite that hangs is not green either.
"""

import argparse
import importlib
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from functools import partial
from pathlib import Path

from tests import sabotages
from tests.sabotages import Sabotage

__all__ = ["Sabotage", "Verdict", "all_rows", "misfits", "try_row"]

ROOT = Path(__file__).parents[1]
PATIENCE_S = 180
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv*", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
)


class Verdict(Enum):
    CAUGHT = "caught"
    HUNG = "hung"
    SURVIVED = "SURVIVED"
    UNCLEAR = "UNCLEAR"


def all_rows() -> list[Sabotage]:
    """The rows of every module of `tests/sabotages`."""
    names = [each.name for each in pkgutil.iter_modules(sabotages.__path__)]
    return [row for name in names for row in importlib.import_module(f"tests.sabotages.{name}").ROWS]


def misfits(rows: Sequence[Sabotage], root: Path) -> list[str]:
    """Rows that fit the tree no longer, one line each, so that a table cannot rot unseen."""
    found = []
    for row in rows:
        times = _text(root / row.file).count(row.find)
        if times != 1:
            found.append(f"{row.name}: {row.file} holds the text {times} times")
        if row.find == row.replace:
            found.append(f"{row.name}: changes nothing")
        found += [f"{row.name}: no file {each}" for each in row.tests if not (root / each.partition("::")[0]).exists()]
        if [each.name for each in rows].count(row.name) != 1:
            found.append(f"{row.name}: not the only row of this name")
    return found


def try_row(row: Sabotage, root: Path) -> Verdict:
    """Break a copy of `root` and run the row's tests there."""
    with tempfile.TemporaryDirectory(prefix="sabotage-") as folder:
        copy = _copied(root, Path(folder) / "tree")
        broken = copy / row.file
        broken.write_text(_text(broken).replace(row.find, row.replace), "utf-8")
        return _verdict(_pytest(copy, row.tests))


def are_green(tests: Iterable[str], root: Path) -> bool:
    """Whether the tests pass on an unbroken copy; if not, a failure on a broken one says nothing."""
    with tempfile.TemporaryDirectory(prefix="sabotage-") as folder:
        return _pytest(_copied(root, Path(folder) / "tree"), sorted(set(tests)), tell=True) == 0


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""


def _copied(root: Path, to: Path) -> Path:
    shutil.copytree(root, to, ignore=NOT_COPIED, symlinks=True)
    return to


def _pytest(tree: Path, tests: Sequence[str], *, tell: bool = False) -> int | None:
    """pytest's exit code, None when it did not end within `PATIENCE_S` and was killed with all that it had started."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]
    ours = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}  # these choose other tests
    environ = {**ours, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    out = None if tell else subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=tree, env=environ, stdout=out, stderr=out, start_new_session=True)
    try:
        return process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # it leads a session of its own and is not reaped: the number is its own
        process.wait()
        return None


def _verdict(code: int | None) -> Verdict:
    match code:
        case 0:
            return Verdict.SURVIVED
        case 1:
            return Verdict.CAUGHT
        case None:
            return Verdict.HUNG
        case _:
            return Verdict.UNCLEAR


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.sabotage", description="Can the tests fail?")
    parser.add_argument("--only", metavar="NAME", help="rows whose name holds this text")
    parser.add_argument("--list", action="store_true", help="print the rows and try none")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="rows tried at a time")
    return parser.parse_args()


def main() -> int:
    arguments = _arguments()
    rows = [row for row in all_rows() if arguments.only is None or arguments.only in row.name]
    unfit = misfits(rows, ROOT)
    if arguments.list or unfit or not rows:
        print("\n".join(unfit or [f"{row.file:32} {row.name}" for row in rows] or ["no row has this name"]))
        return 1 if unfit or not rows else 0
    if not are_green((test for row in rows for test in row.tests), ROOT):
        print("the tests are red on the unbroken program; nothing can be said")
        return 1
    return _try_all(rows, arguments.jobs)


def _try_all(rows: Sequence[Sabotage], jobs: int) -> int:
    verdicts = []
    with ThreadPoolExecutor(jobs) as pool:
        for row, verdict in zip(rows, pool.map(partial(try_row, root=ROOT), rows), strict=True):
            print(f"{verdict.value:10}{row.name}", flush=True)
            verdicts.append(verdict)
    caught = sum(verdict in (Verdict.CAUGHT, Verdict.HUNG) for verdict in verdicts)
    print(f"{caught} of {len(rows)} caught")
    return 0 if caught == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
