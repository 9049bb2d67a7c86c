"""What an ended occurrence meant."""

from itertools import product

import pytest

from pixivflow.slots.model import Cell, CellStatus, Downstream, Live, Lost, ReasonCode, Unknown
from pixivflow.slots.outcome import COPY, BusinessStatus, Category, business_status, category, counts
from tests.fixtures.slots import a_cell

S, C = BusinessStatus, CellStatus

DONE = a_cell("a", C.SUBMITTED)
EMPTY = a_cell("b", C.NO_CANDIDATE, reason_code=ReasonCode.NO_CANDIDATE)
EXHAUSTED = a_cell("c", C.NO_CANDIDATE, reason_code=ReasonCode.DUPLICATE_EXHAUSTED)
DUPLICATE = a_cell("d", C.DUPLICATE, reason_code=ReasonCode.DUPLICATE_EXHAUSTED)
CANCELLED = a_cell("e", C.FAILED, reason_code=ReasonCode.CANCELLED_BY_CONSUMER)
BROKEN = a_cell("f", C.FAILED, reason_code=ReasonCode.STALLED_NO_HEARTBEAT)
OPEN = a_cell("g", C.DELIVERY_PENDING)
LOST = Lost("r1: dead")


def meant(*cells: Cell | tuple[Cell, Downstream]) -> BusinessStatus:
    return business_status(counts(cell if isinstance(cell, tuple) else (cell, Unknown()) for cell in cells))


@pytest.mark.parametrize(
    ("cells", "status"),
    [
        pytest.param([DONE, DONE], S.SUCCESS, id="all published"),
        pytest.param([DONE, EMPTY], S.PARTIAL_SUCCESS, id="some published, some found nothing"),
        pytest.param([DONE, BROKEN], S.PARTIAL_SUCCESS, id="some published, some broken"),
        pytest.param([], S.SUCCESS, id="no cells"),
        pytest.param([CANCELLED], S.CANCELLED, id="cancelled"),
        pytest.param([CANCELLED, EMPTY], S.CANCELLED, id="cancelled beside an empty search"),
        pytest.param([CANCELLED, BROKEN], S.FAILED, id="a real failure beside a cancel"),
        pytest.param([DUPLICATE, DUPLICATE], S.DUPLICATE_ONLY, id="all duplicates"),
        pytest.param([DUPLICATE, EXHAUSTED], S.DUPLICATE_ONLY, id="duplicates and exhausted searches"),
        pytest.param([DUPLICATE, EMPTY], S.NO_CANDIDATE, id="duplicates and an empty search"),
        pytest.param([EMPTY, EMPTY], S.NO_CANDIDATE, id="all empty"),
        pytest.param([BROKEN], S.FAILED, id="broken"),
        pytest.param([EMPTY, BROKEN], S.FAILED, id="broken beside an empty search"),
        pytest.param([(BROKEN, LOST)], S.FAILED, id="a lost delivery"),
    ],
)
def test_an_occurrence_means_one_thing(cells: list[Cell], status: BusinessStatus) -> None:
    assert meant(*cells) is status


@pytest.mark.parametrize("status", BusinessStatus)
def test_only_a_system_failure_calls_an_operator(status: BusinessStatus) -> None:
    assert status.alertable is (status is S.FAILED)


@pytest.mark.parametrize(
    ("cell", "said", "box"),
    [
        (DONE, Unknown(), Category.SUBMITTED),
        (EMPTY, Unknown(), Category.NO_MATCH),
        (DUPLICATE, Unknown(), Category.DUPLICATE),
        (CANCELLED, Unknown(), Category.CANCELLED),
        (CANCELLED, LOST, Category.CANCELLED),
        (BROKEN, LOST, Category.DELIVERY_FAILED),
        (BROKEN, Unknown(), Category.EXECUTOR_FAILED),
        (BROKEN, Live(), Category.EXECUTOR_FAILED),
        (OPEN, Live(), Category.OPEN),
    ],
)
def test_each_cell_falls_into_one_box(cell: Cell, said: Downstream, box: Category) -> None:
    assert category(cell, said) is box


@pytest.mark.parametrize(
    "cells", list(product([DONE, EMPTY, EXHAUSTED, DUPLICATE, CANCELLED, BROKEN], repeat=3)), ids=lambda _: ""
)
def test_the_boxes_hold_every_ended_cell_once(cells: tuple[Cell, ...]) -> None:
    c = counts((cell, Unknown()) for cell in cells)
    assert c.submitted + c.no_match + c.duplicate + c.cancelled + c.delivery_failed + c.executor_failed == c.total == 3


def test_an_empty_day_and_a_duplicate_day_read_alike_and_never_name_an_error() -> None:
    assert COPY[S.NO_CANDIDATE] == COPY[S.DUPLICATE_ONLY]
    assert set(COPY) == set(BusinessStatus)
    assert COPY[S.FAILED].zh == "本轮任务遇到系统异常，请稍后重试或检查日志。"
    assert COPY[S.CANCELLED].zh == "本轮任务已被取消，不会继续发布。"
    assert COPY[S.SUCCESS].zh == "任务完成，已发布本轮内容。"
    assert COPY[S.PARTIAL_SUCCESS].zh == "任务部分完成，部分内容已发布。"
    assert COPY[S.NO_CANDIDATE].zh == "本轮没有发现新的可发布作品。任务已正常完成。"
