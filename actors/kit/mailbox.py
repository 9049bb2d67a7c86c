"""Bounded mailboxes. `tell` never waits, `ask` has a deadline and always gets an answer, also from a dying actor."""

import contextlib
from collections.abc import Iterator
from typing import Generic, TypeVar, cast

import trio

from actors.kit.errors import NoAnswer

R = TypeVar("R")
M = TypeVar("M")


class Asks(Generic[R]):
    """The base of messages that want an answer of type `R`."""

    __slots__ = ()


class Letter(Generic[M]):
    """A message on its way, with the means to answer it. Told messages may be answered too; nobody listens."""

    __slots__ = ("_answered", "_error", "_value", "message", "withdrawn")

    def __init__(self, message: M) -> None:
        self.message = message
        self.withdrawn = False
        self._answered = trio.Event()
        self._value: object = None
        self._error: BaseException | None = None

    def answer(self, value: object) -> None:
        """Hand `value` to the asker. Only the first answer counts."""
        if not self._answered.is_set():
            self._value = value
            self._answered.set()

    def refuse(self, error: BaseException) -> None:
        """Let the asker's call raise `error`."""
        if not self._answered.is_set():
            self._error = error
            self._answered.set()

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """A block in which the letter is answered: what it raises goes to the asker, who can do something about it.

        When the block is cancelled, or ends without an answer, the asker gets `NoAnswer`.
        """
        try:
            yield
        except Exception as error:
            self.refuse(error)
        finally:
            self.refuse(NoAnswer(f"no answer to {type(self.message).__name__}"))

    async def wait(self) -> object:
        """The answer, once there is one."""
        await self._answered.wait()
        if self._error is not None:
            raise self._error
        return self._value


class Mailbox(Generic[M]):
    """A box of `size` letters that outlives the restarts of the actor who reads it."""

    def __init__(self, size: int) -> None:
        self._send, self._receive = trio.open_memory_channel[Letter[M]](size)

    def tell(self, message: M) -> bool:
        """Leave a hint. False when the box is full or closed; a full box already says "look now"."""
        try:
            self._send.send_nowait(Letter(message))
        except (trio.WouldBlock, trio.ClosedResourceError):
            return False
        return True

    async def ask(self, message: Asks[R], within_ms: float) -> R:
        """The actor's answer to `message`.

        Errors: `NoAnswer` when none came within `within_ms` or the actor died with the letter in its hands, in which
        case nobody knows whether it acted; whatever the actor refused the letter with.
        """
        letter = Letter(cast("M", message))
        try:
            with trio.move_on_after(within_ms / 1000):
                await self._post(letter)
                return cast("R", await letter.wait())
            raise NoAnswer(f"no answer to {type(message).__name__} within {within_ms:.0f} ms")
        finally:
            letter.withdrawn = True

    async def _post(self, letter: Letter[M]) -> None:
        try:
            await self._send.send(letter)
        except trio.ClosedResourceError:
            raise NoAnswer(f"nobody is there to answer {type(letter.message).__name__}") from None

    async def take(self) -> Letter[M]:
        """The oldest letter that somebody still waits for, as soon as there is one."""
        while True:
            letter = await self._receive.receive()
            if not letter.withdrawn:
                return letter

    def close(self) -> None:
        """Take no more letters and answer those in the box with `NoAnswer`."""
        self._send.close()
        with contextlib.suppress(trio.WouldBlock, trio.EndOfChannel):
            while True:
                self._receive.receive_nowait().refuse(NoAnswer("nobody is left to answer"))
