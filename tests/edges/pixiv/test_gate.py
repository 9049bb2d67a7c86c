"""The pace of the account: between requests, after limits, and across a restart."""

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from actors.kit.testing import Probe, VirtualClock
from pixivflow.errors import Unavailable
from pixivflow.ids import WorkId
from pixivflow.pixiv import pace as rules
from pixivflow.pixiv.gate import CircuitOpen, Gate
from pixivflow.pixiv.pace import Circuit, GateState, Pace, Place, Shut, pace_of
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.times import PRODUCTION, Timings
from tests.edges.pixiv.stage import Rows, Stage

WORK = BoundWork(work_id=WorkId("100001"), work_type=WorkType.ILLUSTRATION)
PACE = pace_of(PRODUCTION)
NOW = 1_768_446_000_000


def a_gate(rows: Rows, pace: Pace = PACE, clock: VirtualClock | None = None) -> Gate:
    return Gate(pace, rows, clock or VirtualClock(), scope="default", note=Probe().note, chance=lambda: 0.0)


@pytest.mark.case("download", 18)
async def test_fifty_who_ask_at_once_leave_one_after_the_other(autojump_clock: MockClock) -> None:
    gate, left = a_gate(Rows(), pace_of(PRODUCTION, 100)), list[float]()

    async def ask() -> None:
        async with gate.turn() as turn:
            left.append(trio.current_time())
            await turn.served()

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(ask)
    assert left == pytest.approx([each * 0.1 for each in range(50)])


@pytest.mark.case("download", 14)
@pytest.mark.parametrize(("retry_after", "waited"), [(2, 60), (100, 100), (999_999, 3_600)])
async def test_a_limit_makes_everybody_wait_the_longer_of_both_times(
    retry_after: int, waited: float, autojump_clock: MockClock
) -> None:
    stage = Stage()
    stage.played.fault("rate_429", match={"kind": "api"}, count=1, retry_after=retry_after)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.source.detail, WORK)
        await trio.sleep(1)
        nursery.start_soon(stage.source.detail, WORK)
    first, *others = stage.played.times("/detail")
    assert first == 0
    assert len(others) == 2
    assert all(waited <= at <= max(waited, 60 * 1.25) + 0.01 for at in others)


async def test_who_waits_for_a_place_does_not_fire_into_a_cool_down_that_began_meanwhile(
    autojump_clock: MockClock,
) -> None:
    gate, left = a_gate(Rows()), list[float]()

    async def ask() -> None:
        async with gate.turn() as turn:
            left.append(trio.current_time())
            await turn.served()

    async with trio.open_nursery() as nursery, gate.turn() as turn:
        nursery.start_soon(ask)
        await trio.sleep(0.5)
        await turn.limited(None)
    assert left == pytest.approx([60.5])


@pytest.mark.case("download", 15)
async def test_a_refusal_that_speaks_of_a_rate_limit_is_a_limit(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.fault("rate_403", match={"kind": "api"}, count=1)
    assert (await stage.source.detail(WORK)).id == "100001"
    assert stage.played.times("/detail")[1] >= 60


@pytest.mark.case("download", 16)
async def test_four_limits_in_a_row_stop_everything_but_one_probe(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.fault("rate_429", match={"kind": "api"}, count=4)
    with pytest.raises(Unavailable):
        await stage.source.detail(WORK)
    sent, at = len(stage.played.sent), trio.current_time()
    with pytest.raises(CircuitOpen) as raised:
        await stage.source.detail(WORK)
    assert raised.value.retry_after_s is not None
    assert (len(stage.played.sent), trio.current_time()) == (sent, at)
    await trio.sleep(raised.value.retry_after_s)
    results: list[str] = []

    async def ask() -> None:
        try:
            results.append((await stage.source.detail(WORK)).id)
        except CircuitOpen:
            results.append("shut")

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(ask)
    assert sorted(results) == ["100001", "shut", "shut", "shut", "shut"]
    assert (await stage.source.detail(WORK)).id == "100001"


@pytest.mark.case("download", 17)
async def test_a_cool_down_outlives_the_process(autojump_clock: MockClock) -> None:
    stage = Stage(retries=0)
    stage.played.fault("rate_429", match={"kind": "api"}, count=1)
    with pytest.raises(Unavailable):
        await stage.source.detail(WORK)
    await stage.again().detail(WORK)
    assert stage.played.times("/detail")[1] >= 60


@pytest.mark.case("download", 23)
async def test_a_wait_that_is_cancelled_ends_at_once_and_sends_nothing(autojump_clock: MockClock) -> None:
    stage = Stage(pacing_ms=60_000)
    await stage.source.detail(WORK)
    began = trio.current_time()
    with trio.move_on_after(1) as scope:
        await stage.source.detail(WORK)
    assert scope.cancelled_caught
    assert trio.current_time() - began == pytest.approx(1)
    assert len(stage.played.paths("/detail")) == 1


async def test_a_probe_that_is_cancelled_leaves_the_circuit_open_and_not_half(autojump_clock: MockClock) -> None:
    rows, clock = Rows(), VirtualClock()
    state = GateState(circuit_state=Circuit.OPEN, penalty_level=4, cooldown_until=clock.now_ms())
    rows.gates["default"] = msgspec.json.encode(state).decode()
    gate = a_gate(rows, clock=clock)
    with trio.move_on_after(1):
        async with gate.turn():
            await trio.sleep_forever()
    with pytest.raises(CircuitOpen) as raised:
        async with gate.turn():
            pass
    assert raised.value.retry_after_s == pytest.approx(60)


async def test_a_gate_that_cannot_be_written_still_holds(autojump_clock: MockClock) -> None:
    stage = Stage()
    await stage.source.detail(WORK)
    stage.rows.full = True
    stage.played.fault("rate_429", match={"kind": "api"}, count=1)
    await stage.source.detail(WORK)
    assert stage.played.times("/detail")[2] >= 60
    assert stage.probe.heard("pixiv.gate_not_kept")


def test_a_pace_is_made_of_the_durations_in_force_and_the_settings_replace_its_interval() -> None:
    timings = Timings(gate_interval_ms=1, gate_cooldown_ms=2, gate_cooldown_max_ms=3, gate_wish_max_ms=4)
    pace = pace_of(timings)
    assert (pace.interval_ms, pace.first_cooldown_ms, pace.max_cooldown_ms, pace.max_wish_ms) == (1, 2, 3, 4)
    assert pace_of(timings, 0).interval_ms == 0


def test_a_level_falls_after_twenty_good_answers_in_a_row() -> None:
    state = GateState(penalty_level=2)
    for count in range(20):
        assert state.penalty_level == 2, count
        state = rules.served(state, PACE, NOW, was_probe=False)
    assert (state.penalty_level, state.consecutive_successes) == (1, 0)


def test_a_probe_that_was_limited_opens_the_circuit_again() -> None:
    half = GateState(circuit_state=Circuit.HALF_OPEN, penalty_level=1)
    assert rules.limited(half, PACE, NOW, 0.0, None).circuit_state is Circuit.OPEN
    assert rules.served(half, PACE, NOW, was_probe=True).circuit_state is Circuit.CLOSED
    assert rules.served(half, PACE, NOW, was_probe=False).circuit_state is Circuit.HALF_OPEN


@pytest.mark.parametrize(
    ("until", "expected"),
    [pytest.param(NOW + 1, Circuit.OPEN, id="time left"), pytest.param(NOW, Circuit.CLOSED, id="over")],
)
def test_nobody_probes_when_a_process_starts(until: int, expected: Circuit) -> None:
    state = GateState(circuit_state=Circuit.HALF_OPEN, cooldown_until=until)
    assert rules.loaded(state, PACE, NOW).circuit_state is expected


def test_a_clock_that_was_set_back_parks_no_account_for_days() -> None:
    far = GateState(cooldown_until=NOW + 10**9, next_allowed_at=NOW + 10**9)
    match rules.reserved(rules.loaded(far, PACE, NOW), PACE, NOW, 0.0):
        case Place(_, send_at):
            assert send_at == NOW + PRODUCTION.gate_wish_max_ms
        case Shut():
            pytest.fail("a closed circuit is not shut")


async def test_a_clock_that_is_set_back_under_a_living_process_changes_no_pause(autojump_clock: MockClock) -> None:
    clock = VirtualClock()
    gate = Gate(pace_of(PRODUCTION, 100), Rows(), clock, scope="default", note=Probe().note, chance=lambda: 0.0)
    left = list[float]()
    for limit in (False, True, False):
        async with gate.turn() as turn:
            left.append(trio.current_time())
            clock.step(-86_400_000)
            await (turn.limited(None) if limit else turn.served())
        clock.step(-86_400_000)
    assert left == pytest.approx([0, 0.1, 60.1])


@given(
    chances=st.lists(st.tuples(st.integers(0, 5_000), st.floats(0, 1), st.booleans()), min_size=1, max_size=40),
)
def test_places_never_overlap_and_none_lies_inside_a_cool_down(chances: list[tuple[int, float, bool]]) -> None:
    state, now, last = GateState(), NOW, 0
    for passed, chance, is_limit in chances:
        now += passed
        match rules.reserved(state, PACE, now, chance):
            case Place(after, send_at):
                assert send_at >= max(now, state.cooldown_until, last + PACE.interval_ms if last else 0)
                state, last, now = after, send_at, send_at
                state = (
                    rules.limited(state, PACE, now, chance, None)
                    if is_limit
                    else rules.served(state, PACE, now, was_probe=state.circuit_state is Circuit.HALF_OPEN)
                )
            case Shut(wait_ms):
                assert wait_ms > 0
                assert state.circuit_state is not Circuit.CLOSED


@pytest.mark.parametrize(
    "header", ["Thu, 01 Jan 99999999999999999999 00:00:00 GMT", "Thu, 01 Jan 2026 00:00:00 +99999999999999999999"]
)
async def test_a_limit_that_names_no_instant_that_can_be_is_still_a_limit(
    header: str, autojump_clock: MockClock
) -> None:
    stage = Stage()
    stage.played.fault("rate_429", match={"kind": "api"}, count=1, retry_after=header)
    await stage.source.detail(WORK)
    first, second = stage.played.times("/detail")
    assert 60 <= second - first <= 60 * 1.25 + 0.01
