"""How often, and how soon, a child that ended is started again: a table, and what holds for any history."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit import Budget, Kind
from actors.kit.restart import Decision, Escalate, LetGo, StartAgain, decide

BUDGET = Budget(intensity=3, period_ms=60_000, backoff_ms=100, backoff_max_ms=300)
NOW = 1_000_000


@pytest.mark.parametrize(
    ("kind", "failed", "expected"),
    [
        (Kind.PERMANENT, True, StartAgain(100)),
        (Kind.PERMANENT, False, StartAgain(100)),
        (Kind.TRANSIENT, True, StartAgain(100)),
        (Kind.TRANSIENT, False, LetGo()),
        (Kind.TEMPORARY, True, LetGo()),
        (Kind.TEMPORARY, False, LetGo()),
    ],
    ids=str,
)
def test_the_kind_of_a_child_says_which_end_calls_for_a_new_start(kind: Kind, failed: bool, expected: Decision) -> None:
    assert decide(kind, failed=failed, ends=(), now=NOW, budget=BUDGET) == expected


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        pytest.param([], StartAgain(100), id="the first failure costs the least"),
        pytest.param([NOW - 1], StartAgain(200), id="each one doubles the wait"),
        pytest.param([NOW - 2, NOW - 1], StartAgain(300), id="up to a longest one"),
        pytest.param([NOW - 3, NOW - 2, NOW - 1], Escalate(), id="until the budget is spent"),
        pytest.param([NOW - 59_999, NOW - 2, NOW - 1], Escalate(), id="one that is almost forgiven counts"),
        pytest.param([NOW - 60_000, NOW - 2, NOW - 1], StartAgain(300), id="a period later one is forgiven"),
        pytest.param([NOW - 90_000, NOW - 80_000, NOW - 70_000], StartAgain(100), id="and in the end all are"),
    ],
)
def test_the_wait_and_the_budget_follow_the_recent_failures(ends: list[int], expected: Decision) -> None:
    assert decide(Kind.PERMANENT, failed=True, ends=ends, now=NOW, budget=BUDGET) == expected


def test_a_child_without_a_budget_is_never_started_again() -> None:
    assert decide(Kind.PERMANENT, failed=True, ends=(), now=NOW, budget=Budget(intensity=0)) == Escalate()


@given(lives=st.lists(st.integers(0, 30_000), max_size=60), intensity=st.integers(1, 6))
def test_no_period_ever_sees_more_restarts_than_the_budget_allows(lives: list[int], intensity: int) -> None:
    budget = Budget(intensity=intensity, period_ms=20_000, backoff_ms=10, backoff_max_ms=1_000)
    now, ends = 0, list[int]()
    for life in lives:
        now += life
        decision = decide(Kind.PERMANENT, failed=True, ends=ends, now=now, budget=budget)
        if isinstance(decision, Escalate):
            break
        assert isinstance(decision, StartAgain)
        assert budget.backoff_ms <= decision.after_ms <= budget.backoff_max_ms
        ends.append(now)
        now += decision.after_ms
    assert all(later - first >= budget.period_ms for first, later in zip(ends, ends[intensity:], strict=False))
