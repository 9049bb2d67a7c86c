"""The receiver is strict and tells the truth: what it writes down is what happened on the wire."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.crash.faults import ACTS, AT_RANDOM, Script, read_script
from tests.crash.journal import Journal
from tests.crash.process import Process
from tests.crash.sender import Heard, send
from tests.crash.waiting import until
from tests.promises.evidence import Arrival, gathered, read_lines

Start = Callable[[Script], int]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def receiver(script: Script) -> int:
            script.write(tmp_path / "script.json")
            process = Process(
                "tests.crash.receiver",
                ["--journal", str(tmp_path / "wire.jsonl"), "--script", str(tmp_path / "script.json")],
                folder=tmp_path,
                name="receiver",
                journal=Journal(tmp_path / "hands.jsonl"),
            )
            stack.enter_context(process)
            assert process.port is not None
            return process.port

        yield receiver


def arrivals(tmp_path: Path) -> tuple[Arrival, ...]:
    until("every arrival to be answered", lambda: _all_answered(tmp_path))
    found: tuple[Arrival, ...] = gathered(read_lines([tmp_path / "wire.jsonl"]))["arrivals"]
    return found


def _all_answered(tmp_path: Path) -> bool:
    kinds = [line["kind"] for line in read_lines([tmp_path / "wire.jsonl"])]
    return kinds.count("arrival") == kinds.count("answered")


async def sent(port: int, key: str = "k", body: bytes = b"{}", timeout_ms: int = 30_000) -> Heard:
    head = {"route": "r", "key": key, "slot": "s", "target": "t", "work": "w"}
    return await send("127.0.0.1", port, head, body, timeout_ms)


def answer(heard: Heard) -> str:
    return heard.words["answer"] if heard.words else ""


async def test_a_work_is_accepted_once_and_then_known_by_its_key(start: Start, tmp_path: Path) -> None:
    port = start(Script())
    heard = [answer(await sent(port)) for _ in range(4)]
    assert heard[0] == "accepted"
    assert sorted(heard[1:]) == ["conflict", "duplicate_existing", "idempotent_replay"]
    seen = arrivals(tmp_path)
    assert [arrival.n for arrival in seen] == [1, 2, 3, 4]
    assert {arrival.digest for arrival in seen} == {hashlib.sha256(b"{}").hexdigest()}
    assert all(arrival.taken and arrival.delivered for arrival in seen)


@pytest.mark.parametrize(
    ("act", "word", "taken"),
    [
        ("accept", "accepted", True),
        ("late", "accepted", True),
        ("busy", "unavailable", False),
        ("refuse", "refused", False),
    ],
)
async def test_an_answer_that_was_read_is_written_down_as_read(
    start: Start, tmp_path: Path, act: str, word: str, taken: bool
) -> None:
    assert answer(await sent(start(Script(orders={"s/t": [act]})))) == word
    [arrival] = arrivals(tmp_path)
    assert (arrival.answer, arrival.delivered, arrival.taken) == (word, True, taken)


@pytest.mark.parametrize(("act", "taken"), [("lost", True), ("mute", False)])
async def test_an_answer_that_was_never_given_is_written_down_as_none(
    start: Start, tmp_path: Path, act: str, taken: bool
) -> None:
    heard = await sent(start(Script(orders={"s/t": [act]})))
    assert (heard.words, heard.sent) == (None, True)
    [arrival] = arrivals(tmp_path)
    assert (arrival.delivered, arrival.taken) == (False, taken)


async def test_a_receiver_that_hangs_lets_go_when_the_sender_does(start: Start, tmp_path: Path) -> None:
    port = start(Script(orders={"s/t": ["hang"]}))
    assert (await sent(port, timeout_ms=200)).words is None
    assert answer(await sent(port)) in ("idempotent_replay", "duplicate_existing", "conflict")
    assert [arrival.delivered for arrival in arrivals(tmp_path)] == [False, True]


async def test_nobody_there_is_told_from_an_answer_that_was_lost(tmp_path: Path) -> None:
    heard = await sent(1)
    assert (heard.words, heard.sent) == (None, False)


async def test_half_a_request_never_arrived(start: Start, tmp_path: Path) -> None:
    port = start(Script())
    head = {"route": "r", "key": "k", "slot": "s", "target": "t", "work": "w"}
    assert (await send("127.0.0.1", port, {**head, "work": "x" * 70_000}, b"", 30_000)).words is None
    assert arrivals(tmp_path) == ()


def test_a_script_gives_the_same_acts_again_and_ends_in_peace(tmp_path: Path) -> None:
    script = Script(seed=7, orders={"s/t": ["hold"]}, secret="x")
    script.write(tmp_path / "script.json")
    read = read_script(tmp_path / "script.json")
    acts = [read.act("r", f"s{n}", "t", nth) for n in range(200) for nth in range(3)]
    assert acts == [script.act("r", f"s{n}", "t", nth) for n in range(200) for nth in range(3)]
    assert set(acts) == set(AT_RANDOM)
    assert read.act("r", "s", "t", 0) == "hold"
    assert read.act("r", "s1", "t", 3) == "accept"
    assert set(AT_RANDOM) < set(ACTS)
