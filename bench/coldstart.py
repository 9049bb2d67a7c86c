"""How long does whoever wakes the program wait for its first answer?

    python -m bench.coldstart [--json] [--rounds N]

From the start of the process to the first 200 on `/health`: our daemon, with a ledger of 10 000 ended slots, a plan and
a configuration that is watched, against the least that could answer with the same server and framework. And `pixivflow
--help` against a program that asks click for the same. Ours and theirs alternate, each is compared with the one before
it, and the median of these ratios counts, so that a neighbour's noise meets both.

    ready_vs_bare    at most 1.5
    help_vs_click    at most 2
    *_ms             medians by the clock
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from bench.standing import ENDED_SLOTS, bare, environment, free_port, ours, serving, tell

ROUNDS = 15

CLICK = """
import click

@click.group("bare", invoke_without_command=True)
@click.version_option("1")
def group():
    pass

group(["--help"])
"""

Measure = Callable[[], float]


def measure(folder: Path, rounds: int) -> dict[str, object]:
    """The figures of `rounds` rounds after one that warms up."""
    port, bare_port = free_port(), free_port()
    daemon, smallest = ours(folder, port), bare(bare_port)
    ready = compared(lambda: ready_s(daemon, port), lambda: ready_s(smallest, bare_port), rounds)
    helped = compared(
        lambda: run_s([sys.executable, "-m", "pixivflow", "--help"]),
        lambda: run_s([sys.executable, "-c", CLICK]),
        rounds,
    )
    return {
        "ready_vs_bare": ready[2],
        "ready_ms": ready[0],
        "bare_ready_ms": ready[1],
        "help_vs_click": helped[2],
        "help_ms": helped[0],
        "click_ms": helped[1],
        "ended_slots": ENDED_SLOTS,
        "rounds": rounds,
    }


def compared(our: Measure, their: Measure, rounds: int) -> tuple[float, float, float]:
    """Our median and theirs, ms, and the median of the ratios of neighbours."""
    pairs = [(their(), our()) for _ in range(rounds + 1)][1:]
    ratios = [mine / other for other, mine in pairs]
    theirs, mine = (statistics.median(side) * 1000 for side in zip(*pairs, strict=True))
    return round(mine, 1), round(theirs, 1), round(statistics.median(ratios), 3)


def ready_s(command: list[str], port: int) -> float:
    with serving(command, port) as (_, seconds):
        return seconds


def run_s(command: list[str]) -> float:
    began = perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, env=environment(), check=True)
    return perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description="The time to the first answer.")
    parser.add_argument("--json", action="store_true", help="one JSON object and nothing else")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        result = measure(Path(name), options.rounds)
    tell(result, as_json=options.json)


if __name__ == "__main__":
    main()
