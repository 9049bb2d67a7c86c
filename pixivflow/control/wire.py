"""The bodies of the trigger surface, both ways, and the one way to read one.

Keys are in camel case. What is unset is left out.
"""

from typing import Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from pixivflow.control.ports import Failed

T = TypeVar("T")

State = Literal["ok", "degraded", "stopping"]
"""`degraded`: what is accepted is kept, but selection and delivery are off. `stopping`: nothing more is accepted."""

NOT_JSON = "the body is not a JSON object that can be read"


class RunBody(msgspec.Struct, frozen=True):
    """What a trigger may say: a name for people. It decides nothing, so a wrong kind of it is no error."""

    label: object = None


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """Every error of this surface."""

    status: Literal["error"] = "error"
    error: str


class CellView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One target of a slot."""

    target_id: str
    status: str
    work_id: str | None
    error: str | UnsetType = UNSET


class ScheduleView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The slot that a trigger names. `status`: the slot's."""

    schedule_id: str
    slot_id: str
    disposition: str
    status: str
    already_completed: bool | UnsetType = UNSET
    cells: list[CellView] | UnsetType = UNSET


class RunReply(msgspec.Struct, frozen=True, kw_only=True):
    """How a trigger is answered once its occurrence is known, or when the process leaves.

    `schedule`: absent where nothing was kept. `reason`: why it was refused, in a word.
    """

    status: str
    schedule: ScheduleView | UnsetType = UNSET
    note: str
    reason: str | UnsetType = UNSET


class ScheduleLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One plan. `occurrence`: the slot that a trigger would name now, None when it would name none."""

    schedule_id: str
    mode: str
    occurrence: str | None


class SchedulesReply(msgspec.Struct, frozen=True, kw_only=True):
    """Every plan there is."""

    schedules: list[ScheduleLine]


class HealthReply(msgspec.Struct, frozen=True, kw_only=True):
    """The process serves; it says nothing more than that."""

    status: Literal["ok"] = "ok"
    service: Literal["pixivflow-scheduler-trigger"] = "pixivflow-scheduler-trigger"
    version: str
    commit: str


class VersionReply(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which program this is."""

    schema_version: Literal[1] = 1
    name: Literal["pixivflow"] = "pixivflow"
    version: str
    commit: str


class Counters(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What holds the process awake."""

    active_slots: int
    processing_outbox: int
    pending_outbox: int
    active_executions: int
    waiting_for_resource: int


class StatusReply(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the process fares. `started_at`: ISO UTC. `uptime_sec`: whole seconds."""

    schema_version: Literal[1] = 1
    state: State
    pid: int
    started_at: str
    uptime_sec: int
    version: str
    mode: str
    counters: Counters


def decode(body: bytes, kind: type[T]) -> T:
    """The body as a `kind`; an empty one as an empty object. Unknown keys are let pass.

    Errors: `Failed` with 400 for anything else, also for what is nested too deep to be read.
    """
    try:
        return msgspec.json.decode(body.strip() or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Failed(400, NOT_JSON) from None
