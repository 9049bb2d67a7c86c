"""Instants and durations: their shapes in the ledger, and the numbers that production runs with."""

import time
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixivflow.times import PRODUCTION, Timings, TimingsRefused, checked, from_utc_text, iso, utc_text

INSTANTS = st.integers(min_value=0, max_value=4_102_444_800_000)  # until the year 2100


def test_production_runs_with_exactly_these_durations() -> None:
    assert msgspec.structs.asdict(PRODUCTION) == {
        "slot_lease_ms": 180_000,
        "heartbeat_ms": 30_000,
        "sweep_ms": 60_000,
        "drain_window_ms": 30_000,
        "settle_ms": 5_000,
        "outbox_poll_ms": 10_000,
        "row_lease_ms": 120_000,
        "row_renewal_ms": 40_000,
        "retry_base_ms": 30_000,
        "retry_max_ms": 21_600_000,
        "submission_ms": 300_000,
        "readiness_ms": 3_000,
        "deferral_ms": 60_000,
        "clock_sleep_ms": 30_000,
        "clock_jump_ms": 5_000,
        "gate_interval_ms": 1_000,
        "gate_cooldown_ms": 60_000,
        "gate_cooldown_max_ms": 900_000,
        "gate_wish_max_ms": 3_600_000,
        "token_margin_ms": 60_000,
        "login_cooldown_ms": 60_000,
        "body_ms": 10_000,
        "watch_look_ms": 1_000,
        "watch_step_ms": 500,
        "idle_poll_ms": 15_000,
        "shutdown_grace_ms": 4_000,
        "busy_retry_ms": 30_000,
        "storage_retry_ms": 30_000,
    }


@pytest.mark.parametrize(
    ("lease_ms", "beat_ms"),
    [
        pytest.param(400, 100, id="a quarter"),
        pytest.param(400, 1, id="far less"),
    ],
)
def test_a_heartbeat_of_up_to_a_quarter_of_its_lease_is_accepted(lease_ms: int, beat_ms: int) -> None:
    timings = Timings(slot_lease_ms=lease_ms, heartbeat_ms=beat_ms)
    assert checked(timings) is timings


def test_a_heartbeat_slower_than_a_quarter_of_its_lease_is_refused() -> None:
    with pytest.raises(TimingsRefused, match="heartbeat_ms"):
        checked(Timings(slot_lease_ms=400, heartbeat_ms=101))


def test_a_renewal_of_a_third_of_its_lease_is_accepted() -> None:
    timings = Timings(row_lease_ms=300, row_renewal_ms=100)
    assert checked(timings) is timings


def test_a_renewal_slower_than_a_third_of_its_lease_is_refused() -> None:
    with pytest.raises(TimingsRefused, match="row_renewal_ms"):
        checked(Timings(row_lease_ms=300, row_renewal_ms=101))


def test_a_first_cool_down_longer_than_the_longest_is_refused() -> None:
    assert checked(Timings(gate_cooldown_ms=100, gate_cooldown_max_ms=100))
    with pytest.raises(TimingsRefused, match="gate_cooldown_ms"):
        checked(Timings(gate_cooldown_ms=101, gate_cooldown_max_ms=100))


def test_a_thread_that_looks_more_often_than_it_hears_of_a_stop_is_refused() -> None:
    assert checked(Timings(watch_step_ms=100, watch_look_ms=100))
    with pytest.raises(TimingsRefused, match="watch_step_ms"):
        checked(Timings(watch_step_ms=101, watch_look_ms=100))


@pytest.mark.parametrize("field", msgspec.structs.asdict(PRODUCTION))
@pytest.mark.parametrize("value", [0, -1])
def test_no_duration_may_be_nothing_or_less(field: str, value: int) -> None:
    with pytest.raises(TimingsRefused):
        checked(msgspec.structs.replace(PRODUCTION, **{field: value}))


def test_a_text_column_holds_utc_to_the_second() -> None:
    assert utc_text(0) == "1970-01-01 00:00:00"
    assert utc_text(1_768_446_000_999) == "2026-01-15 03:00:00"


def test_a_record_for_people_holds_utc_to_the_millisecond() -> None:
    assert iso(1_768_446_000_007) == "2026-01-15T03:00:00.007Z"


@given(INSTANTS)
def test_a_text_column_read_back_is_the_instant_to_the_second(at: int) -> None:
    assert from_utc_text(utc_text(at)) == at - at % 1000


@given(INSTANTS)
def test_a_record_read_back_is_the_same_millisecond(at: int) -> None:
    assert from_utc_text(iso(at)) == at


@pytest.fixture(params=["Asia/Tokyo", "America/St_Johns", "UTC"])
def host_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process runs on a host in another timezone."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("host_zone")
def test_a_text_without_a_zone_is_utc_on_every_host() -> None:
    assert from_utc_text("2026-01-15 03:00:00") == 1_768_446_000_000
    assert utc_text(1_768_446_000_000) == "2026-01-15 03:00:00"
    assert iso(1_768_446_000_000) == "2026-01-15T03:00:00.000Z"


def test_a_text_with_a_zone_keeps_it() -> None:
    assert from_utc_text("2026-01-15T12:00:00+09:00") == 1_768_446_000_000


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01 00:00:00", "1768446000000"])
def test_a_text_that_is_no_instant_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"isoformat|month"):
        from_utc_text(text)
