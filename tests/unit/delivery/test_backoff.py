"""Waiting before a retry."""

import pytest

from pixivflow.delivery.backoff import RetryPolicy, delay_ms

ALMOST_ONE = 1 - 2**-53
DEFAULT = RetryPolicy()


def test_without_chance_the_waits_double_from_half_a_minute_to_six_hours() -> None:
    waits = [delay_ms(attempts, DEFAULT, ALMOST_ONE) for attempts in range(1, 13)]

    assert waits == [*(30_000 * 2**n for n in range(10)), 21_600_000, 21_600_000]


def test_chance_takes_at_most_half_of_a_wait() -> None:
    assert delay_ms(1, DEFAULT, 0.0) == 15_000
    assert delay_ms(1, DEFAULT, 0.5) == 22_500


@pytest.mark.parametrize("attempts", [0, -5])
def test_a_count_that_makes_no_sense_waits_like_the_first_failure(attempts: int) -> None:
    assert delay_ms(attempts, DEFAULT, 0.0) == 15_000


def test_no_number_of_failures_waits_longer_than_the_longest_wait() -> None:
    assert delay_ms(2**62, RetryPolicy(base_ms=1, max_ms=2**40), ALMOST_ONE) == 2**18
    assert delay_ms(2**62, DEFAULT, ALMOST_ONE) == 21_600_000


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        pytest.param(90_000, 90_000, id="a longer wish is honoured"),
        pytest.param(1_000, 15_000, id="a shorter one does not shorten the wait"),
        pytest.param(10**30, 21_600_000, id="no wish goes beyond the longest wait"),
        pytest.param(-90_000, 15_000, id="a negative one is none"),
        pytest.param(None, 15_000, id="none is none"),
    ],
)
def test_the_receivers_wish_counts_where_it_is_longer(wish: int | None, expected: int) -> None:
    assert delay_ms(1, DEFAULT, 0.0, wish) == expected


def test_the_longest_wait_holds_even_below_the_base() -> None:
    assert delay_ms(1, RetryPolicy(base_ms=30_000, max_ms=10_000), ALMOST_ONE) == 10_000
