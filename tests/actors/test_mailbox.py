"""A hint costs nobody a wait, a question always gets an answer, and letters outlive the actor that reads them."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import Asks, Budget, Child, Context, Letter, Mailbox, NoAnswer, Supervisor
from actors.kit.testing import Probe


@dataclass(frozen=True, slots=True)
class Hint:
    number: int = 0


@dataclass(frozen=True, slots=True)
class Question(Asks[str]):
    text: str = "?"


def a_box(size: int = 2) -> Mailbox[Hint | Question]:
    return Mailbox(size)


async def answering_all(mailbox: Mailbox[Hint | Question]) -> None:
    while True:
        letter = await mailbox.take()
        with letter.answering():
            letter.answer(repr(letter.message))


async def test_a_hint_to_a_full_box_is_refused_at_once_and_the_letters_in_it_stay() -> None:
    box = a_box(size=2)
    assert [box.tell(Hint(number)) for number in range(4)] == [True, True, False, False]
    assert [(await box.take()).message for _ in range(2)] == [Hint(0), Hint(1)]


async def test_a_question_gets_the_answer_of_the_actor() -> None:
    box = a_box()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(answering_all, box)
        assert await box.ask(Question("who"), 1_000) == "Question(text='who')"
        nursery.cancel_scope.cancel()


async def test_a_question_that_nobody_reads_ends_at_its_deadline(autojump_clock: MockClock) -> None:
    with pytest.raises(NoAnswer, match="within 1500 ms"):
        await a_box().ask(Question(), 1_500)
    assert trio.current_time() == 1.5


async def test_a_question_before_a_full_box_waits_for_room_and_no_longer_than_its_deadline(
    autojump_clock: MockClock,
) -> None:
    box = a_box(size=1)
    box.tell(Hint())
    with pytest.raises(NoAnswer):
        await box.ask(Question(), 1_000)
    assert trio.current_time() == 1

    async with trio.open_nursery() as nursery:

        async def read_late() -> None:
            await trio.sleep(1)
            nursery.start_soon(answering_all, box)

        nursery.start_soon(read_late)
        assert await box.ask(Question("now"), 2_000) == "Question(text='now')"
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ValueError("no such slot"), id="an error of its own"),
        pytest.param(trio.TooSlowError(), id="one that looks like the deadline of the question"),
        pytest.param(trio.ClosedResourceError(), id="one that looks like a closed box"),
    ],
)
async def test_what_the_actor_refuses_a_question_with_is_raised_by_the_asker(error: Exception) -> None:
    box = a_box()

    async def fail_once() -> None:
        with (await box.take()).answering():
            raise error

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fail_once)
        with pytest.raises(type(error)) as raised:
            await box.ask(Question(), 60_000)
        assert raised.value is error


async def test_an_actor_that_dies_with_the_letter_in_its_hands_leaves_no_asker_waiting(
    autojump_clock: MockClock,
) -> None:
    box, dying = a_box(), trio.CancelScope()

    async def take_and_die() -> None:
        with dying:
            letter = await box.take()
            with letter.answering():
                await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take_and_die)

        async def kill() -> None:
            await trio.sleep(1)
            dying.cancel()

        nursery.start_soon(kill)
        with pytest.raises(NoAnswer, match="Question"):
            await box.ask(Question(), 60_000)
        assert trio.current_time() == 1


async def test_a_letter_that_the_actor_forgot_to_answer_is_answered_all_the_same() -> None:
    letter = Letter(Question())
    with letter.answering():
        pass
    with pytest.raises(NoAnswer):
        await letter.wait()


@pytest.mark.parametrize(
    "second", [lambda letter: letter.answer("second"), lambda letter: letter.refuse(ValueError("second"))]
)
async def test_only_the_first_answer_counts(second: Callable[[Letter[Question]], None]) -> None:
    letter = Letter(Question())
    letter.answer("first")
    second(letter)
    assert await letter.wait() == "first"


async def test_a_question_whose_asker_has_gone_is_not_read(autojump_clock: MockClock) -> None:
    box = a_box(size=4)
    with trio.move_on_after(1):
        await box.ask(Question("cancelled"), 60_000)
    with pytest.raises(NoAnswer):
        await box.ask(Question("late"), 1_000)
    box.tell(Hint())
    assert (await box.take()).message == Hint()


async def test_a_question_given_up_before_a_full_box_never_comes_into_it(autojump_clock: MockClock) -> None:
    box = a_box(size=1)
    box.tell(Hint(1))
    with trio.move_on_after(1):
        await box.ask(Question(), 60_000)
    assert (await box.take()).message == Hint(1)
    assert box.tell(Hint(2))
    assert (await box.take()).message == Hint(2)


async def test_letters_in_the_box_are_read_by_the_next_life(autojump_clock: MockClock) -> None:
    box, lives = a_box(), list[int]()

    async def dying_first(ctx: Context) -> None:
        lives.append(1)
        ctx.started()
        if len(lives) == 1:
            await box.take()
            raise RuntimeError("with the hint in its hands")
        await answering_all(box)

    probe = Probe()
    tree = Supervisor([Child("reader", dying_first, budget=Budget(backoff_ms=100), farewell=box.close)], probe.hooks())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await tree.up.wait()
        box.tell(Hint())
        assert await box.ask(Question("still there"), 5_000) == "Question(text='still there')"
        assert len(lives) == 2
        tree.stop()


async def test_closing_answers_everybody_in_and_before_the_box_and_lets_nobody_in(autojump_clock: MockClock) -> None:
    box, answers = a_box(size=1), list[str]()

    async def ask() -> None:
        try:
            await box.ask(Question(), 60_000)
        except NoAnswer as error:
            answers.append(str(error))

    async with trio.open_nursery() as nursery:
        for _ in range(3):  # one in the box, two before it
            nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        box.close()
    assert trio.current_time() == 0
    assert len(answers) == 3
    await ask()
    assert len(answers) == 4
    assert not box.tell(Hint())
