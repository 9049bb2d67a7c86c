"""When a slot that nobody owns is beyond rescue, and with which reason it then ends.

Two signs must both be dead, the lease and the progress, so that a slow but healthy run is never ended.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from pixivflow.config.model import SchedulerRuntime
from pixivflow.slots.lease import is_live
from pixivflow.slots.model import Cell, ReasonCode, Slot, SlotStatus
from pixivflow.slots.reasons import REASONS
from pixivflow.slots.rollup import RollUp, force, roll_up

LEAST_MS: Final = 60_000
"""A budget of less is a slip of the pen, and a slip of the pen must not end every run of the daemon."""

_DEFAULTS: Final = SchedulerRuntime()


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """How long a slot may wait for its first run, and how long a run may show no progress."""

    queued_ms: int = _DEFAULTS.queued_timeout_ms
    stalled_ms: int = _DEFAULTS.stall_timeout_ms


def verdict(slot: Slot, limits: Budgets, now: int) -> ReasonCode | None:
    """Why `slot` is beyond rescue at `now`, or None while it is not."""
    if is_live(slot, now):
        return None
    if slot.status is SlotStatus.PENDING:
        return _if_older(slot.created_at, now - limits.queued_ms, ReasonCode.QUEUED_TOO_LONG)
    if slot.status is SlotStatus.RUNNING:
        return _if_older(progress_at(slot), now - limits.stalled_ms, ReasonCode.STALLED_NO_HEARTBEAT)
    return None


def progress_at(slot: Slot) -> int | None:
    """The last instant at which a running slot is known to have moved."""
    return next((at for at in (slot.heartbeat_at, slot.started_at, slot.created_at) if at is not None), None)


def end(cells: Sequence[Cell], reason: ReasonCode) -> tuple[RollUp, bool]:
    """How a slot beyond rescue ends, and whether that is a verdict.

    A slot whose cells have all ended was only never added up: it gets the sum of what happened, and no verdict.
    """
    if cells and not any(cell.is_open for cell in cells):
        return roll_up(cells, (), reason), False
    return force(cells, reason, REASONS[reason].zh), True


def _if_older(at: int | None, cutoff: int, reason: ReasonCode) -> ReasonCode | None:
    return reason if at is not None and at <= cutoff else None
