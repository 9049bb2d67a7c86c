"""All checkers together, over lines read from files as a harness writes them."""

import json
from pathlib import Path

from tests.promises import verdict
from tests.promises.evidence import Evidence, gathered, read_lines, snapshot
from tests.promises.ledgers import KEY, ROUTE, SLOT, TARGET, WORK, with_changes
from tests.promises.transcripts import a_life, an_arrival

LINES = [
    {"kind": "accepted", "slot": SLOT, "at": 1},
    {"kind": "began", "run": "run-1-a", "slot": SLOT, "plan": "p", "act": "publish", "pid": 1, "at": 2, "wall_ms": 9},
    {"kind": "ended", "run": "run-1-a", "at": 3, "how": "returned"},
    {
        "kind": "arrival", "n": 1, "at": 4, "route": ROUTE, "key": KEY, "digest": "aa", "sender": 1, "begun": 3,
        "slot": SLOT, "target": TARGET, "work": WORK, "taken": True,
    },
    {"kind": "answered", "n": 1, "at": 5, "answer": "accepted", "delivered": True},
    {"kind": "stopped", "pid": 1, "signal": "TERM", "at": 6, "until": 7, "wall_ms": 9, "code": 0},
]  # fmt: skip


def test_a_good_life_told_in_lines_breaks_no_promise(tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(json.dumps(line) + "\n" for line in LINES) + '{"kind": "arr')
    ledger = with_changes(tmp_path / "l.db")
    life = Evidence(ledger=ledger, snapshots=(snapshot(ledger),), **gathered(read_lines([lines])))
    assert (len(life.acceptances), len(life.arrivals), len(life.runs), len(life.stops)) == (1, 1, 1, 1)
    assert verdict.verdict(life) == []


def test_a_violation_is_told_with_its_promise(tmp_path: Path) -> None:
    life = a_life(with_changes(tmp_path / "l.db"), arrivals=(an_arrival(), an_arrival(2)))
    assert [fault.split(":")[0] for fault in verdict.verdict(life)] == ["nothing doubled"] * len(verdict.verdict(life))
    assert verdict.verdict(life)


def test_looking_changes_nothing_in_the_file(tmp_path: Path) -> None:
    ledger = with_changes(tmp_path / "l.db")
    before = ledger.read_bytes()
    verdict.verdict(a_life(ledger))
    assert ledger.read_bytes() == before
