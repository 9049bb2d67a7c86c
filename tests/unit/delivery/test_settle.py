"""What the routes of a cell say together. Route lists are written `d` delivered, `u` duplicate, `p` owed, `o` a promise
that nobody will send, `f` failed."""

import itertools

import pytest

from pixivflow.delivery.model import IntentStatus
from pixivflow.delivery.settle import IntentFact, RouteState, downstream, is_abandoned, route_state, settlement
from pixivflow.ids import RouteName, TargetId, WorkId
from pixivflow.slots.model import (
    BoundWork,
    Cell,
    CellStatus,
    Confirmed,
    Live,
    Lost,
    ReasonCode,
    Unknown,
    WorkType,
)
from tests.fixtures.deliveries import SLOT, TARGET

WORK = BoundWork(work_id=WorkId("1"), work_type=WorkType.ILLUSTRATION)
OTHER_WORK = BoundWork(work_id=WorkId("2"), work_type=WorkType.ILLUSTRATION)

LETTERS = {
    "d": (IntentStatus.DELIVERED, False),
    "u": (IntentStatus.DUPLICATE, False),
    "p": (IntentStatus.PENDING, True),
    "o": (IntentStatus.PENDING, False),
    "f": (IntentStatus.FAILED, False),
}


def fact(letter: str, route: str = "a", work: BoundWork = WORK, **fields: str | None) -> IntentFact:
    status, actionable = LETTERS[letter]
    return IntentFact(route=RouteName(route), status=status, actionable=actionable, work=work, **fields)


def facts(letters: str) -> list[IntentFact]:
    """One intent a route."""
    return [fact(letter, f"route{n}") for n, letter in enumerate(letters)]


def cell(work: str | None = "1") -> Cell:
    return Cell(
        slot_id=SLOT,
        target_id=TargetId(TARGET),
        status=CellStatus.DELIVERY_PENDING,
        work_id=WorkId(work) if work else None,
        work_type=WorkType.ILLUSTRATION,
    )


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("d", RouteState.CONFIRMED),
        ("u", RouteState.CONFIRMED),
        ("p", RouteState.OWED),
        ("o", RouteState.LOST),
        ("f", RouteState.LOST),
        ("pd", RouteState.CONFIRMED),
        ("fd", RouteState.CONFIRMED),
        ("fp", RouteState.OWED),
        ("of", RouteState.LOST),
    ],
)
def test_on_one_route_a_publication_outranks_a_promise_and_a_promise_outranks_a_loss(
    letters: str, expected: RouteState
) -> None:
    assert route_state([fact(letter) for letter in letters]) is expected


@pytest.mark.parametrize("letters", ["".join(some) for n in (1, 2, 3) for some in itertools.product("dupof", repeat=n)])
def test_over_the_routes_what_is_owed_outranks_what_is_lost_and_that_what_is_confirmed(letters: str) -> None:
    answer, change = downstream(facts(letters)), settlement(cell(), facts(letters))

    if "p" in letters:
        assert answer == Live()
        assert change is None
    elif set(letters) & set("of"):
        assert isinstance(answer, Lost)
        assert change is not None
        assert (change.to, change.reason) == (CellStatus.FAILED, ReasonCode.DELIVERY_FAILED)
    else:
        assert answer == Confirmed(WORK, duplicate="d" not in letters)
        assert change is not None
        assert change.to is (CellStatus.SUBMITTED if "d" in letters else CellStatus.DUPLICATE)
        assert change.work == WORK
    assert is_abandoned(facts(letters)) == isinstance(answer, Lost)


def test_without_any_promise_nothing_can_be_said() -> None:
    assert downstream([]) == Unknown()
    assert settlement(cell(), []) is None
    assert not is_abandoned([])


def test_promises_of_another_work_do_not_settle_the_cell() -> None:
    assert settlement(cell(), [fact("d", work=OTHER_WORK)]) is None
    assert settlement(cell(), [fact("f", work=OTHER_WORK), fact("d", "b")]).to is CellStatus.SUBMITTED  # type: ignore[union-attr]


def test_a_cell_without_a_work_takes_the_one_that_was_published() -> None:
    change = settlement(cell(None), [fact("d")])

    assert change is not None
    assert change.work == WORK


def test_a_published_work_is_named_rather_than_one_that_somebody_else_had() -> None:
    assert downstream([fact("u", "a"), fact("d", "b", OTHER_WORK)]) == Confirmed(OTHER_WORK)


def test_a_loss_names_every_lost_route_with_the_receivers_last_word_and_what_was_published() -> None:
    lost = downstream(
        [
            fact("d", "a", remote_id="7"),
            fact("f", "b", remote_id="9", remote_status="rejected", last_error="not for us"),
            fact("o", "c"),
        ]
    )

    assert lost == Lost("confirmed on 1 of 3 routes, lost on b (rejected 9): not for us; c: nobody sends it any more")


def test_a_loss_of_many_words_is_cut_to_what_a_cell_can_keep() -> None:
    lost = downstream([fact("f", f"r{n}", last_error="x" * 1_000) for n in range(20)])

    assert isinstance(lost, Lost)
    assert len(lost.reason) == 1_000
