"""What an ended occurrence meant, apart from whether it ended.

A slot with nothing but empty searches is `failed` in terms of execution and perfectly healthy in terms of business.
What it meant is derived when somebody asks; it never moves a state and never causes a retry. Monitors look at
`alertable`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from pixivflow.slots.model import Cell, CellStatus, Downstream, Lost, ReasonCode


class Category(StrEnum):
    """The one box each cell falls into."""

    SUBMITTED = "submitted"
    NO_MATCH = "no_match"
    DUPLICATE = "duplicate"
    CANCELLED = "cancelled"
    DELIVERY_FAILED = "delivery_failed"
    EXECUTOR_FAILED = "executor_failed"
    OPEN = "open"


class BusinessStatus(StrEnum):
    """What the occurrence meant to the people who wait for it."""

    SUCCESS = "success"
    PARTIAL_SUCCESS = "partial_success"
    CANCELLED = "cancelled"
    DUPLICATE_ONLY = "duplicate_only"
    NO_CANDIDATE = "no_candidate"
    FAILED = "failed"

    @property
    def alertable(self) -> bool:
        """Whether an operator should be told."""
        return self is BusinessStatus.FAILED


class Copy(msgspec.Struct, frozen=True):
    """The sentence that people read; the Chinese one is data and stays exactly as it is."""

    zh: str
    en: str


_DONE: Final = Copy("任务完成，已发布本轮内容。", "Done: this round's content was published.")
_NOTHING: Final = Copy(
    "本轮没有发现新的可发布作品。任务已正常完成。", "No new work to publish this round. The job ended normally."
)

COPY: Final[Mapping[BusinessStatus, Copy]] = {
    BusinessStatus.SUCCESS: _DONE,
    BusinessStatus.PARTIAL_SUCCESS: Copy("任务部分完成，部分内容已发布。", "Partly done: some content was published."),
    BusinessStatus.CANCELLED: Copy(
        "本轮任务已被取消，不会继续发布。", "This round was cancelled; nothing more will be published."
    ),
    BusinessStatus.DUPLICATE_ONLY: _NOTHING,
    BusinessStatus.NO_CANDIDATE: _NOTHING,
    BusinessStatus.FAILED: Copy(
        "本轮任务遇到系统异常，请稍后重试或检查日志。",
        "This round hit a system problem; retry later or check the logs.",
    ),
}


def category(cell: Cell, downstream: Downstream) -> Category:
    """The box `cell` falls into. A cancel is looked at before a lost delivery, since it causes one too."""
    if cell.status is CellStatus.SUBMITTED:
        return Category.SUBMITTED
    if cell.status is CellStatus.NO_CANDIDATE:
        return Category.NO_MATCH
    if cell.status is CellStatus.DUPLICATE:
        return Category.DUPLICATE
    if cell.status is not CellStatus.FAILED:
        return Category.OPEN
    if cell.reason_code == ReasonCode.CANCELLED_BY_CONSUMER:
        return Category.CANCELLED
    return Category.DELIVERY_FAILED if isinstance(downstream, Lost) else Category.EXECUTOR_FAILED


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many cells fell into each box; `exhausted`: those without a match because all they saw was published."""

    total: int
    submitted: int = 0
    no_match: int = 0
    duplicate: int = 0
    cancelled: int = 0
    delivery_failed: int = 0
    executor_failed: int = 0
    exhausted: int = 0

    @property
    def unpublished(self) -> int:
        """Cells that published nothing."""
        return self.total - self.submitted

    @property
    def is_system_failure(self) -> bool:
        """Whether something broke, as opposed to finding nothing."""
        return self.executor_failed > 0 or self.delivery_failed > 0


def counts(cells: Iterable[tuple[Cell, Downstream]]) -> Counts:
    """The cells of a slot, each with what the delivery ledger says about it, counted."""
    found = list(cells)
    boxes = Counter(category(cell, downstream) for cell, downstream in found)
    exhausted = sum(
        cell.status is CellStatus.NO_CANDIDATE and cell.reason_code == ReasonCode.DUPLICATE_EXHAUSTED
        for cell, _ in found
    )
    return Counts(
        total=len(found),
        submitted=boxes[Category.SUBMITTED],
        no_match=boxes[Category.NO_MATCH],
        duplicate=boxes[Category.DUPLICATE],
        cancelled=boxes[Category.CANCELLED],
        delivery_failed=boxes[Category.DELIVERY_FAILED],
        executor_failed=boxes[Category.EXECUTOR_FAILED],
        exhausted=exhausted,
    )


def business_status(c: Counts) -> BusinessStatus:
    """What the counts meant; first match wins."""
    if c.submitted > 0:
        return BusinessStatus.PARTIAL_SUCCESS if c.unpublished else BusinessStatus.SUCCESS
    if c.total == 0:
        return BusinessStatus.SUCCESS
    if c.is_system_failure:
        return BusinessStatus.FAILED
    if c.cancelled > 0:
        return BusinessStatus.CANCELLED
    if c.duplicate + c.exhausted == c.unpublished:
        return BusinessStatus.DUPLICATE_ONLY
    return BusinessStatus.NO_CANDIDATE
