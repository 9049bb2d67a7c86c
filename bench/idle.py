"""What does a daemon cost that has nothing to do?

    python -m bench.idle [--json] [--seconds S]

Our daemon waits for triggers, with a ledger of 10 000 ended slots and its configuration watched; beside it, at the same
time, the least that could answer with the same server and framework. Both are asked once, left alone until their start
is over, and then looked at as the kernel counts them. Linux alone.

    cpu_s     seconds of processor time in a minute of idling; at most 0.2
    rss_mb    memory that is resident at the end of it, in 10^6 bytes; at most 75
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from bench.standing import ENDED_SLOTS, bare, free_port, ours, serving, tell

SECONDS = 60.0
SETTLED_S = 5.0
"""Until what is loaded after the first answer is loaded, too."""

TICKS = os.sysconf("SC_CLK_TCK")


def measure(folder: Path, seconds: float) -> dict[str, object]:
    """The figures of both."""
    port, bare_port = free_port(), free_port()
    command = ours(folder, port)
    with serving(command, port) as (mine, _), serving(bare(bare_port), bare_port) as (theirs, _):
        time.sleep(SETTLED_S)
        before = cpu_s(mine), cpu_s(theirs)
        time.sleep(seconds)
        return {
            "cpu_s": round(cpu_s(mine) - before[0], 3),
            "bare_cpu_s": round(cpu_s(theirs) - before[1], 3),
            "rss_mb": rss_mb(mine),
            "bare_rss_mb": rss_mb(theirs),
            "seconds": seconds,
            "ended_slots": ENDED_SLOTS,
        }


def cpu_s(pid: int) -> float:
    """Processor time of all threads of the process since its start, in user code and for it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def rss_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Processor time and memory of a daemon that waits.")
    parser.add_argument("--json", action="store_true", help="one JSON object and nothing else")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        result = measure(Path(name), options.seconds)
    tell(result, as_json=options.json)


if __name__ == "__main__":
    main()
