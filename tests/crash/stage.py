"""One folder in which a life is played: the ledger, the plans, the processes, and the evidence in the end."""

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType

from tests.crash.client import ask_for_all
from tests.crash.faults import Script
from tests.crash.journal import Journal
from tests.crash.plans import PlayedPlan, write_plans
from tests.crash.process import Process
from tests.crash.waiting import until
from tests.promises import consistent
from tests.promises.evidence import Evidence, Row, Snapshot, gathered, read_lines, rows, snapshot

TIMINGS = {
    "slot_lease_ms": 800,
    "heartbeat_ms": 200,
    "sweep_ms": 300,
    "drain_window_ms": 300,
    "shutdown_grace_ms": 1500,
    "outbox_poll_ms": 100,
    "row_lease_ms": 600,
    "row_renewal_ms": 200,
    "retry_base_ms": 50,
    "retry_max_ms": 400,
}
LOCK_S = 0.2
"""Longer than a daemon that runs keeps the lock, and much shorter than any lease."""

STATE = """SELECT (SELECT count(*) FROM schedule_slots) AS slots,
              (SELECT count(*) FROM schedule_slots WHERE status IN ('pending', 'running') OR reported_at IS NULL)
              + (SELECT count(*) FROM outbox WHERE status IN ('pending', 'processing', 'retry_wait')) AS owed"""


class Stage:
    """A life in the making. Every process that it starts ends with its block."""

    def __init__(
        self, folder: Path, plans: Sequence[PlayedPlan], script: Script, *,
        options: Sequence[str] = (), timings: Mapping[str, int] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.folder, self.plans = folder, {plan.slot: plan for plan in plans}
        self.ledger = folder / "ledger.db"
        self.hands = Journal(folder / "hands.jsonl")
        self.faults: list[str] = []
        self._options = options
        self._secret = f"planted-{token_hex(8)}"
        self._looks: list[Snapshot] = []
        self._processes: list[Process] = []
        self._stack = ExitStack()
        write_plans(folder / "plans.json", plans)
        (folder / "timings.json").write_text(json.dumps({**TIMINGS, **timings}))
        self._receiver = self._receive(replace(script, secret=self._secret))

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self.hands.close()

    def _receive(self, script: Script) -> Process:
        script.write(self.folder / "script.json")
        arguments = ["--journal", f"{self.folder / 'wire.jsonl'}", "--script", f"{self.folder / 'script.json'}"]
        return self._start("tests.crash.receiver", arguments, "receiver", {})

    def daemon(self, *, point: str = "on", under: Sequence[str] = ()) -> Process:
        """Start a daemon; `point`: the crash point at which it will die, `<name>:<n>`."""
        name = f"daemon-{len(self._processes)}"
        arguments = [
            *("--ledger", f"{self.ledger}", "--plans", f"{self.folder / 'plans.json'}"),
            *("--journal", f"{self.folder / name}.jsonl", "--gate", f"{self.gate}"),
            *("--receiver", f"127.0.0.1:{self._receiver.port}", *self._options),
        ]
        environ = {"PIXIVFLOW_FAILPOINTS": point, "PIXIVFLOW_TEST_TIMINGS": f"{self.folder / 'timings.json'}"}
        return self._start("tests.crash.ground", arguments, name, environ, under)

    def _start(
        self, module: str, arguments: Sequence[str], name: str, environ: dict[str, str], under: Sequence[str] = ()
    ) -> Process:
        process = Process(
            module, arguments, folder=self.folder, name=name, journal=self.hands, environ=environ, under=under
        )
        self._processes.append(process)
        return self._stack.enter_context(process)

    def freeze(self, daemon: Process) -> None:
        """Freeze `daemon` at an instant at which it does not hold the ledger's lock, or nobody could go on."""
        daemon.freeze()
        while not self._lockable():
            daemon.thaw()
            daemon.freeze()

    def _lockable(self) -> bool:
        with closing(sqlite3.connect(self.ledger, timeout=LOCK_S, isolation_level=None)) as db:
            try:
                db.execute("BEGIN IMMEDIATE")
                db.execute("ROLLBACK")
            except sqlite3.OperationalError:
                return False
        return True

    @property
    def gate(self) -> Path:
        """The file for which the act `wait` waits."""
        return self.folder / "gate"

    def ask(self, daemon: Process, *slots: str) -> None:
        """Ask `daemon` for `slots`, one after the other, until it is gone."""
        if daemon.port is not None:
            ask_for_all(daemon.port, slots, self.hands)

    @contextmanager
    def asking(self, daemon: Process, slots: Sequence[str], asked: set[str]) -> Iterator[None]:
        """Ask `daemon` for `slots` meanwhile, until it is gone; those that were asked for end up in `asked`."""

        def work() -> None:
            if daemon.port is not None:
                asked.update(ask_for_all(daemon.port, slots, self.hands))

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            thread.join()

    def look(self) -> Snapshot:
        """Look at every row and keep it as evidence; what does not agree now is a fault of this life."""
        look = snapshot(self.ledger) if self.ledger.exists() else Snapshot(0, {})
        if look.tables:
            self._looks.append(look)
            faults = consistent.judge(Evidence(ledger=self.ledger))
            self.faults += [f"the ledger is consistent: {fault}" for fault in faults]
        return look

    def until_rows(self, what: str, sql: str, *values: object) -> None:
        """Wait until the ledger gives at least one row for the question."""
        until(what, lambda: rows(self.ledger, sql, values))

    def arrivals(self, slot: str) -> int:
        """How often something of the slot has arrived."""
        return sum(arrival.slot == slot for arrival in self._told().arrivals)

    def begun_runs(self, slot: str) -> int:
        """How many executions of the slot have begun."""
        return sum(run.slot == slot for run in self._told().runs)

    def ended_runs(self, slot: str) -> int:
        """How many of them have come back."""
        return sum(run.slot == slot and run.how != "" for run in self._told().runs)

    def rows(self, sql: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Row]:
        """What the ledger answers now."""
        return rows(self.ledger, sql, values)

    def accepted(self) -> set[str]:
        """The slots that a client saw accepted."""
        return {acceptance.slot for acceptance in self._told().acceptances}

    def all_ended(self) -> bool:
        """Whether every plan's slot is there and nothing is owed any more."""
        found = rows(self.ledger, STATE)[0]
        return bool(found["slots"] == len(self.plans) and found["owed"] == 0)

    def until_all_ended(self, limit_s: float) -> bool:
        """Wait until nothing is owed any more. False: something still is after `limit_s`."""
        try:
            until("the end of all work", lambda: rows(self.ledger, STATE)[0]["owed"] == 0, limit_s)
        except TimeoutError:
            return False
        return True

    def _told(self) -> Evidence:
        lines = read_lines(sorted(self.folder.glob("*.jsonl")))
        return Evidence(ledger=self.ledger, **gathered(lines))

    def evidence(self) -> Evidence:
        """All that is known, once the daemons have ended."""
        told = self._told()
        outputs = {name: path for process in self._processes for name, path in process.outputs.items()}
        return Evidence(
            ledger=self.ledger,
            acceptances=told.acceptances,
            arrivals=told.arrivals,
            runs=told.runs,
            stops=told.stops,
            snapshots=(*self._looks, snapshot(self.ledger)),
            texts={name: path.read_text(errors="replace") for name, path in outputs.items()},
            secrets=(self._secret,),
        )
