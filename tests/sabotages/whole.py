"""The program as a whole, seen from outside, and the judges of its lives."""

from tests.sabotages import Sabotage

ROWS = (
    Sabotage(
        name="what a killed life left half-written stays",
        file="pixivflow/daemon/work.py",
        find="                await room.tidied(settings, ledger, hooks.clock, hooks.note)\n",
        replace="",
        tests=("tests/whole/test_stop.py",),
    ),
    Sabotage(
        name="the whole program takes triggers while it leaves",
        file="pixivflow/daemon/program.py",
        find="            leaving=lambda: self.leaving or self.supervisor.stopping,",
        replace="            leaving=lambda: False,",
        tests=("tests/whole/test_triggers.py",),
    ),
    Sabotage(
        name="a 202 does not wait for the disk",
        file="pixivflow/ledger/connection.py",
        find="PRAGMA synchronous = FULL",
        replace="PRAGMA synchronous = OFF",
        tests=("tests/whole/test_durability.py",),
    ),
    Sabotage(
        name="a kill at any time excuses a repeat",
        file="tests/whole/receipts.py",
        find="and (end is None or stop.wall_ms <= end)",
        replace="and True",
        tests=("tests/whole/test_receipts.py",),
    ),
    Sabotage(
        name="a stop excuses a repeat",
        file="tests/whole/receipts.py",
        find='stop.signal == "KILL" and any(',
        replace="any(",
        tests=("tests/whole/test_receipts.py",),
    ),
)
