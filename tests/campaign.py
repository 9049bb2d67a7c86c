"""`python -m tests.campaign NAME --seeds N [--first K]`: many seeds of one campaign, one after the other.

Prints a line each tenth of the way, every failure with its seed, and a closing line; exit 1 on any failure. A failure
is seen again with `--first SEED --seeds 1`.
"""

import argparse
import importlib
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.campaigns import Result

FOLDER = Path(__file__).parent / "campaigns"

Run = Callable[[int], Result]


def names() -> list[str]:
    """The campaigns there are."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def tried(run: Run, seed: int) -> Result:
    """One seed; a campaign that raises has failed, and goes on with the next seed."""
    try:
        return run(seed)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return Result(False, f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})")


def campaign(name: str, run: Run, seeds: Iterable[int], say: Callable[[str], None]) -> int:
    """Run every seed and tell it by `say`; the number of seeds that failed."""
    seeds = list(seeds)
    failed = 0
    for done, seed in enumerate(seeds, start=1):
        result = tried(run, seed)
        if not result.ok:
            failed += 1
            say(f"{name} seed {seed} FAILED: {result.line}")
        if done % max(1, len(seeds) // 10) == 0:
            say(f"{name} {done} of {len(seeds)}, {failed} failed; seed {seed}: {result.line}")
    return failed


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description="Many seeds of one campaign.")
    parser.add_argument("name", choices=names())
    parser.add_argument("--seeds", type=int, required=True, metavar="N", help="how many")
    parser.add_argument("--first", type=int, default=0, metavar="K", help="the first of them; 0 if not said")
    arguments = parser.parse_args()
    if arguments.seeds < 1:
        parser.error("--seeds must be 1 or more")
    return arguments


def main() -> int:
    arguments = _arguments()
    run: Run = importlib.import_module(f"tests.campaigns.{arguments.name}").run
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    start = time.monotonic()
    failed = campaign(arguments.name, run, seeds, lambda line: print(line, flush=True))
    print(f"{arguments.name}: {len(seeds)} seeds, {failed} failed, {time.monotonic() - start:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
