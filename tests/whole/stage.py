"""One folder in which a whole daemon lives beside a sandbox, and the evidence in the end."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType
from typing import Any

from tests.crash.journal import Journal
from tests.crash.process import Process
from tests.crash.stage import STATE, TIMINGS
from tests.crash.waiting import until
from tests.promises import consistent, parts
from tests.promises.evidence import Evidence, Row, Snapshot, gathered, read_lines, rows, snapshot
from tests.promises.verdict import verdict
from tests.whole import receipts
from tests.whole.client import Answer, call, trigger
from tests.whole.handover import PROGRAM
from tests.whole.pixiv import Pixiv
from tests.whole.settings import settings, write

WORKS = 300
PLAIN = range(100_001, 100_801)
"""The ordinary works of every sandbox."""


class Stage:
    """A life in the making. Every process that it starts ends with its block."""

    def __init__(
        self, folder: Path, *, plans: int = 1, timings: Mapping[str, int] = MappingProxyType({}), works: int = WORKS
    ) -> None:
        self.folder, self.ledger, self.config = folder, folder / "ledger.db", folder / "config.json"
        self.hands = Journal(folder / "hands.jsonl")
        self.token, self.signing = f"token-{token_hex(8)}", f"signing-{token_hex(8)}"
        self.faults: list[str] = []
        self.planted: list[str] = []
        """Secrets that this life may not show, besides the two that every life has."""
        self._heard: dict[str, str] = {}
        self._looks: list[Snapshot] = []
        self._processes: list[Process] = []
        self._stack = ExitStack()
        (folder / "timings.json").write_text(json.dumps({**TIMINGS, **timings}))
        options = ["sandbox", "--port", "0", "--works", f"{works}", "--sink-secret", self.signing]
        self.pixiv = Pixiv.of(self._start("pixivflow", options, "sandbox", {}))
        self.settings: dict[str, Any] = settings(folder, self.pixiv.port, self.token, self.signing, plans)

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self.hands.close()

    def daemon(self, *, point: str = "on", under: Sequence[str] = (), program: str = "pixivflow") -> Process:
        """Start a daemon on the settings as they are now. `point`: the crash point at which it will die."""
        write(self.config, self.settings)
        environ = {**self.environ(point), PROGRAM: program}
        name = f"daemon-{len(self._processes)}"
        return self._start("tests.whole.handover", ["scheduler", "--config", f"{self.config}"], name, environ, under)

    def environ(self, point: str = "on") -> dict[str, str]:
        """What a daemon of this stage finds in its environment."""
        return {"PIXIVFLOW_FAILPOINTS": point, "PIXIVFLOW_TEST_TIMINGS": f"{self.folder / 'timings.json'}"}

    def _start(
        self, module: str, arguments: Sequence[str], name: str, environ: dict[str, str], under: Sequence[str] = ()
    ) -> Process:
        process = Process(
            module, arguments, folder=self.folder, name=name, journal=self.hands, environ=environ, under=under
        )
        self._processes.append(process)
        return self._stack.enter_context(process)

    def enlarge(self, page_bytes: int) -> None:
        """Let the pages of all ordinary works have so many bytes; 0 leaves them as they are."""
        works = [{"id": work, "image_bytes": page_bytes} for work in PLAIN] if page_bytes else []
        self.pixiv.tell("works", {"works": works})

    def trigger(self, daemon: Process, plan: str = "p0", token: str | None = "") -> Answer:
        """Ask for a run; what was taken is evidence. `token` empty: the right one; None: none at all."""
        assert daemon.port is not None
        answer = trigger(daemon.port, plan, self.token if token == "" else token)
        self.hear("answer", json.dumps(answer.body, ensure_ascii=False))
        if answer.status == 202:
            self.hands.say("accepted", slot=answer.slot)
        return answer

    def hear(self, what: str, text: str) -> None:
        """Keep what somebody outside was told, as evidence."""
        self._heard[f"{what} {len(self._heard)}"] = text

    def until_up(self, daemon: Process) -> bool:
        """Wait until the daemon answers at its door. False: it is gone."""
        assert daemon.port is not None
        return call(daemon.port, "GET", "/health").status == 200

    def rows(self, sql: str, *values: object) -> list[Row]:
        """What the ledger answers now; nothing while it is not there yet."""
        try:
            return rows(self.ledger, sql, values)
        except sqlite3.OperationalError as error:
            if "no such table" in str(error) or "unable to open" in str(error):
                return []
            raise

    def until_rows(self, what: str, sql: str, *values: object) -> list[Row]:
        """Wait until the ledger gives at least one row for the question."""
        return until(what, lambda: self.rows(sql, *values))

    def all_ended(self, slots: int = 1) -> bool:
        """Whether there are so many slots and nothing is owed any more."""
        found = self.rows(STATE)
        return bool(found) and bool(found[0]["slots"] >= slots and found[0]["owed"] == 0)

    def until_all_ended(self, slots: int = 1, limit_s: float = 60.0) -> None:
        """Wait for that; what is still owed then is a fault of this life."""
        try:
            until("the end of all work", lambda: self.all_ended(slots), limit_s)
        except TimeoutError:
            self.faults.append(f"work was still owed after {limit_s:.0f} s without a kill")

    def look(self) -> None:
        """Look at every row and keep it as evidence; what does not agree now is a fault of this life."""
        look = snapshot(self.ledger) if self.ledger.exists() else Snapshot(0, {})
        if look.tables:
            self._looks.append(look)
            now = Evidence(ledger=self.ledger)
            self.faults += [f"the ledger is consistent: {fault}" for fault in consistent.judge(now)]
            self.faults += [f"files are whole or not at all: {fault}" for fault in parts.counted(now)]

    def verdict(self) -> list[str]:
        """Everything that this life did wrong, once its daemons have ended."""
        evidence, received = self.evidence(), self.pixiv.receipts()
        more = receipts.repeats(received, evidence.snapshots[-1], evidence.stops)
        return [*self.faults, *verdict(evidence), *more]

    def evidence(self) -> Evidence:
        """All that is known, once the daemons have ended."""
        told = Evidence(ledger=self.ledger, **gathered(read_lines([self.folder / "hands.jsonl"])))
        final = snapshot(self.ledger)
        outputs = {name: path for process in self._processes for name, path in process.outputs.items()}
        return Evidence(
            ledger=self.ledger,
            acceptances=told.acceptances,
            arrivals=tuple(receipts.arrivals(self.pixiv.receipts(), final)),
            stops=told.stops,
            snapshots=(*self._looks, final),
            files=self.folder / "files",
            texts={**self._heard, **{name: path.read_text(errors="replace") for name, path in outputs.items()}},
            secrets=(self.token, self.signing, *self.planted),
        )
