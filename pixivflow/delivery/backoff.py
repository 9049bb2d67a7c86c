"""When a failed attempt is tried again: doubling, bounded, spread by chance, never sooner than the receiver wished."""

from typing import Final

import msgspec

from pixivflow.times import PRODUCTION, Timings

_DOUBLINGS: Final = 18


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The first delay before chance spreads it, and the longest one."""

    base_ms: int = PRODUCTION.retry_base_ms
    max_ms: int = PRODUCTION.retry_max_ms


def policy_of(timings: Timings) -> RetryPolicy:
    """The policy that a set of durations holds."""
    return RetryPolicy(base_ms=timings.retry_base_ms, max_ms=timings.retry_max_ms)


def delay_ms(attempts: int, policy: RetryPolicy, u: float, retry_after_ms: int | None = None) -> int:
    """How long a row waits after its `attempts`-th failure.

    `u`: chance, uniform in [0, 1); the wait lies between half and the whole of the doubled base. `retry_after_ms`: the
    receiver's own wish, honoured when it is longer, but never beyond the policy's longest wait.
    """
    doubled = min(policy.max_ms, policy.base_ms << min(max(0, attempts - 1), _DOUBLINGS))
    return min(policy.max_ms, max(round(doubled * (0.5 + 0.5 * u)), retry_after_ms or 0))
