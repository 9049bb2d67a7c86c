"""The pace of one account: when the next request may leave, and what limits make of that. Pure.

    closed ──(the 4th limit in a row)──▶ open ──(cool-down over: one probe)──▶ half_open
      ▲ ◀───────────────(the probe was served)──────────────────────────────────┘ │
                                            open ◀──(the probe failed)────────────┘

While the circuit is open nothing is sent, and nobody waits for it: who asks is told when to come back.
"""

from enum import StrEnum
from typing import Final

import msgspec

from pixivflow.times import Timings

PROBE_MS: Final = 1_000
"""When to come back while somebody else's probe is under way."""


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of a gate. `interval_ms` 0: no pace of our own; what a limit demands stays.

    `max_wish_ms`: the most that an answer may ask for.
    """

    interval_ms: int
    first_cooldown_ms: int
    max_cooldown_ms: int
    max_wish_ms: int
    jitter_ratio: float = 0.25
    decay_successes: int = 20
    open_threshold: int = 4


class Circuit(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class GateState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is known of the account's standing; kept as JSON. Instants are epoch ms."""

    next_allowed_at: int = 0
    cooldown_until: int = 0
    penalty_level: int = 0
    last_429_at: int = msgspec.field(default=0, name="last429At")
    circuit_state: Circuit = Circuit.CLOSED
    consecutive_successes: int = 0
    updated_at: int = 0


class Place(msgspec.Struct, frozen=True):
    """A request may leave at `send_at`; the state has its place reserved."""

    state: GateState
    send_at: int
    is_probe: bool = False


class Shut(msgspec.Struct, frozen=True):
    """Nothing may be sent; come back in `wait_ms`."""

    wait_ms: int


def pace_of(timings: Timings, interval_ms: int | None = None) -> Pace:
    """The pace of an account. `interval_ms`: as configured; None: our own."""
    return Pace(
        interval_ms=timings.gate_interval_ms if interval_ms is None else interval_ms,
        first_cooldown_ms=timings.gate_cooldown_ms,
        max_cooldown_ms=timings.gate_cooldown_max_ms,
        max_wish_ms=timings.gate_wish_max_ms,
    )


def loaded(state: GateState, pace: Pace, now: int) -> GateState:
    """The state as a new process goes on with it: nobody's probe is under way any more, and no instant lies further
    ahead than a clock that was set back can explain."""
    circuit = state.circuit_state
    if circuit is Circuit.HALF_OPEN:
        circuit = Circuit.OPEN if state.cooldown_until > now else Circuit.CLOSED
    cooldown = min(state.cooldown_until, now + pace.max_wish_ms)
    return _with(state, now, circuit_state=circuit, cooldown_until=cooldown, next_allowed_at=0)


def set_back(state: GateState, now: int) -> GateState:
    """The state under a clock that was set back since: what had to wait waits as long as it had to before."""
    by = max(0, state.updated_at - now)
    if not by:
        return state
    return _with(state, now, next_allowed_at=state.next_allowed_at - by, cooldown_until=state.cooldown_until - by)


def reserved(state: GateState, pace: Pace, now: int, chance: float) -> Place | Shut:
    """The next free place. `chance`: 0 to 1."""
    is_probe = False
    match state.circuit_state:
        case Circuit.OPEN if state.cooldown_until > now:
            return Shut(state.cooldown_until - now)
        case Circuit.HALF_OPEN:
            return Shut(PROBE_MS)
        case Circuit.OPEN:
            is_probe = True
        case _:
            pass
    send_at = max(now, state.next_allowed_at, state.cooldown_until)
    after = send_at + round(pace.interval_ms * (1 + pace.jitter_ratio * chance))
    circuit = Circuit.HALF_OPEN if is_probe else state.circuit_state
    return Place(_with(state, now, next_allowed_at=after, circuit_state=circuit), send_at, is_probe)


def limited(state: GateState, pace: Pace, now: int, chance: float, asked_ms: int | None) -> GateState:
    """After an answer that we were too fast. `asked_ms`: what it asked for, a floor of what is waited."""
    level = state.penalty_level + 1
    doubled = pace.first_cooldown_ms * 2 ** min(level - 1, 20)
    own = min(pace.max_cooldown_ms, doubled * (1 + chance * pace.jitter_ratio))
    until = now + round(max(own, min(asked_ms or 0, pace.max_wish_ms)))
    is_open = level >= pace.open_threshold or state.circuit_state is not Circuit.CLOSED
    return _with(
        state,
        now,
        penalty_level=level,
        last_429_at=now,
        cooldown_until=max(until, state.cooldown_until),
        consecutive_successes=0,
        circuit_state=Circuit.OPEN if is_open else Circuit.CLOSED,
    )


def served(state: GateState, pace: Pace, now: int, *, was_probe: bool) -> GateState:
    """After a good answer. One that left before the circuit opened closes nothing."""
    lower = max(0, state.penalty_level - 1)
    if was_probe:
        return _with(state, now, circuit_state=Circuit.CLOSED, penalty_level=lower, consecutive_successes=0)
    count = state.consecutive_successes + 1
    if count >= pace.decay_successes:
        return _with(state, now, penalty_level=lower, consecutive_successes=0)
    return _with(state, now, consecutive_successes=count)


def probe_failed(state: GateState, pace: Pace, now: int) -> GateState:
    """After a probe that got no good answer, or none because its sender went away."""
    if state.circuit_state is not Circuit.HALF_OPEN:
        return state
    return _with(state, now, circuit_state=Circuit.OPEN, cooldown_until=now + pace.first_cooldown_ms)


def _with(state: GateState, now: int, **changes: object) -> GateState:
    return msgspec.structs.replace(state, updated_at=now, **changes)
