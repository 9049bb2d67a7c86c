"""Which moves a cell and a slot may make, who may make them, and what an ended run does to its slot.

    cell   pending ─────┬──▶ delivery_pending ──┬──▶ submitted     confirmed, or stored without any channel
              │ ▲       │                       ├──▶ duplicate     the receiver had it before
         bind │ │release│                       └──▶ failed
              ▼ │       │
            selected ───┴──▶ submitted | no_candidate | duplicate | failed

    slot   pending ──▶ running ──┬──▶ success     every cell submitted
              │          ▲  │    ├──▶ partial     some
              │          │  │    └──▶ failed      none, or forced while a delivery is still open
              └──────────┼──┴── stalled, cancelled, given up ──▶ partial | failed
                         └── failed, a cell still open and a run won the claim
           failed ──▶ success | partial           a late ACK ended the last cell

A move that is not in these tables is refused where it is written, never raised into the run that asked for it: a late
result cannot undo a confirmed one.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from typing import Final, assert_never

from actors.kit.cancel import CancelOrigin, Crashed, End, Ended, Finished
from pixivflow.slots.model import COMPLETED_SLOT, OPEN_SLOT, TO_BE_RUN, CellStatus, SlotStatus

_C, _S = CellStatus, SlotStatus


class Role(Enum):
    """Who asks for a move."""

    RUN = auto()
    """The run that holds the slot's lease."""
    OUTBOX = auto()
    """The delivery worker that records an ACK or gives a row up."""
    ABANDON = auto()
    """The watcher that gives up a run which does not end."""
    STALL = auto()
    """The sweep that ends what nobody can rescue."""
    CONSUMER = auto()
    """Whoever asked for the work and no longer wants it."""
    RECONCILER = auto()
    """The pass that rolls up what ended unnoticed."""


_OPEN: Final = frozenset({_C.PENDING, _C.SELECTED, _C.ARTIFACT_READY, _C.DELIVERY_PENDING})

CELL_MOVES: Final[Mapping[Role, Mapping[CellStatus, frozenset[CellStatus]]]] = {
    Role.RUN: {
        _C.SELECTED: frozenset({_C.PENDING}),
        _C.PENDING: frozenset({_C.SELECTED}),
        _C.DELIVERY_PENDING: _OPEN - {_C.DELIVERY_PENDING},
        _C.SUBMITTED: _OPEN,
        _C.DUPLICATE: _OPEN,
        _C.NO_CANDIDATE: TO_BE_RUN,
        _C.FAILED: _OPEN,
    },
    Role.OUTBOX: {_C.SUBMITTED: _OPEN, _C.DUPLICATE: _OPEN, _C.FAILED: _OPEN},
    Role.ABANDON: {_C.FAILED: TO_BE_RUN},
    Role.STALL: {_C.FAILED: TO_BE_RUN},
    Role.CONSUMER: {_C.FAILED: _OPEN},
    Role.RECONCILER: {_C.FAILED: _OPEN},
}
"""For each role and each new state of a cell, the states it may come from."""

SLOT_MOVES: Final[Mapping[Role, Mapping[SlotStatus, frozenset[SlotStatus]]]] = {
    Role.RUN: {
        _S.RUNNING: OPEN_SLOT | {_S.FAILED},
        _S.SUCCESS: OPEN_SLOT,
        _S.PARTIAL: OPEN_SLOT,
        _S.FAILED: OPEN_SLOT,
    },
    Role.RECONCILER: {
        _S.SUCCESS: OPEN_SLOT | {_S.FAILED},
        _S.PARTIAL: OPEN_SLOT | {_S.FAILED},
        _S.FAILED: OPEN_SLOT,
    },
    Role.ABANDON: {_S.SUCCESS: OPEN_SLOT, _S.PARTIAL: OPEN_SLOT, _S.FAILED: OPEN_SLOT},
    Role.STALL: {_S.SUCCESS: OPEN_SLOT, _S.PARTIAL: OPEN_SLOT, _S.FAILED: OPEN_SLOT},
    Role.CONSUMER: {_S.PARTIAL: OPEN_SLOT | {_S.FAILED}, _S.FAILED: OPEN_SLOT},
}
"""For each role and each new status of a slot, the statuses it may come from.

A run that never came back and a sweep may find every cell submitted: then success is the plain sum, whoever adds it up.
"""


def cell_sources(role: Role, to: CellStatus) -> frozenset[CellStatus]:
    """The states from which `role` may move a cell to `to`; empty where it may not at all."""
    return CELL_MOVES.get(role, {}).get(to, frozenset())


def slot_sources(role: Role, to: SlotStatus) -> frozenset[SlotStatus]:
    """The statuses from which `role` may move a slot to `to`; empty where it may not at all."""
    return SLOT_MOVES.get(role, {}).get(to, frozenset())


def is_over(status: SlotStatus, *, has_open_cell: bool) -> bool:
    """Whether no run can change this slot any more.

    A failed slot with an open cell is not over: its delivery may still be carried to an end. A slot that is unfinished
    without an open cell is not over either: it still has to be rolled up.
    """
    if status is SlotStatus.FAILED:
        return not has_open_cell
    return status in COMPLETED_SLOT or status is SlotStatus.EXPIRED


class Fate(Enum):
    """What one ended run does to its slot."""

    ROLL_UP = auto()
    LEAVE_RESUMABLE = auto()
    WRITE_NOTHING = auto()


def fate(end: End) -> Fate:
    """What one ended run does to its slot."""
    match end:
        case Finished() | Crashed():
            return Fate.ROLL_UP  # this process lives and nobody else will finish the slot
        case Ended():
            return _fate_of(end.origin)
        case _:
            assert_never(end)


def _fate_of(origin: CancelOrigin | None) -> Fate:
    match origin:
        case CancelOrigin.TIMEOUT:
            return Fate.ROLL_UP  # left open, recovery would run it into the same wall for ever
        case CancelOrigin.SHUTDOWN | None:
            return Fate.LEAVE_RESUMABLE  # our stopping is not the slot's fault
        case CancelOrigin.CONSUMER | CancelOrigin.LEASE_LOST:
            return Fate.WRITE_NOTHING  # the verdict, or the slot, is somebody else's
        case _:
            assert_never(origin)


class ExecutionStatus(StrEnum):
    """How one run counts for its plan. `SKIPPED` is neutral: neither a success nor a failure, and no last end."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"


def counted(end: End) -> ExecutionStatus | None:
    """How one ended run counts for its plan; None: not at all, its successor will be counted instead.

    A run that came back is a success even when all its targets failed: the plan ran, and the ledger tells how it went.
    A cancelled consumer and a stopping process leave a neutral row and nothing else.
    """
    match end:
        case Finished():
            return ExecutionStatus.SUCCESS
        case Crashed():
            return ExecutionStatus.FAILED
        case Ended():
            return _counted_as(end.origin)
        case _:
            assert_never(end)


def _counted_as(origin: CancelOrigin | None) -> ExecutionStatus | None:
    match origin:
        case CancelOrigin.TIMEOUT:
            return ExecutionStatus.TIMEOUT
        case CancelOrigin.SHUTDOWN | CancelOrigin.CONSUMER | None:
            return ExecutionStatus.SKIPPED
        case CancelOrigin.LEASE_LOST:
            return None
        case _:
            assert_never(origin)
