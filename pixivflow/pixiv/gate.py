"""The one gate that all requests of an account pass, and what it remembers across a restart."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from random import random

import msgspec
import trio

from actors.kit import Clock
from pixivflow.errors import Cause, Unavailable
from pixivflow.pixiv import pace as rules
from pixivflow.pixiv.pace import Circuit, GateState, Pace, Place, Shut
from pixivflow.pixiv.ports import GateRows, Note
from pixivflow.times import iso


class CircuitOpen(Unavailable):
    """Too many limits in a row: nothing is sent until the cool-down is over."""

    cause = Cause.LIMITED


class Turn:
    """One request's passage. Whoever has it says how it ended; a probe about which nothing is said has failed."""

    def __init__(self, gate: "Gate", *, is_probe: bool) -> None:
        self._gate, self.is_probe, self.is_told = gate, is_probe, False

    async def served(self) -> None:
        self.is_told = True
        await self._gate.change(lambda state, now: rules.served(state, self._gate.pace, now, was_probe=self.is_probe))

    async def limited(self, asked_ms: int | None) -> None:
        self.is_told, gate = True, self._gate
        await gate.change(lambda state, now: rules.limited(state, gate.pace, now, gate.chance(), asked_ms))


class Gate:
    """The gate of one account. `scope`: under which name its state is kept."""

    def __init__(
        self, pace: Pace, rows: GateRows, clock: Clock, *, scope: str, note: Note, chance: Callable[[], float] = random
    ) -> None:
        self.pace, self.chance = pace, chance
        self._rows, self._clock, self._scope, self._note = rows, clock, scope, note
        self._state: GateState | None = None
        self._loading = trio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Turn]:
        """Wait for a place, then hold the passage while one request is made.

        Errors: `CircuitOpen`, at once, with the time after which to come back.
        """
        turn = Turn(self, is_probe=await self._passed())
        try:
            yield turn
        finally:
            if turn.is_probe and not turn.is_told:
                with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
                    await self.change(lambda state, now: rules.probe_failed(state, self.pace, now))

    async def _passed(self) -> bool:
        """Until the request may leave; whether it is the probe. After the wait the cool-down is looked at again."""
        await self._known()
        while True:
            now = self._clock.now_ms()
            match rules.reserved(self._known_at(now), self.pace, now, self.chance()):
                case Shut(wait_ms):
                    raise CircuitOpen("Pixiv limits this account; nothing is sent for a while", wait_ms / 1000)
                case Place(state, send_at, is_probe):
                    self._state = state
            if is_probe:
                return True
            await trio.sleep(max(0, send_at - now) / 1000)
            now = self._clock.now_ms()
            if self._known_at(now).cooldown_until <= now:
                return False

    async def change(self, to: Callable[[GateState, int], GateState]) -> None:
        """Move on, and keep what a restart must not forget. A ledger that cannot be written now costs only that."""
        await self._known()
        now = self._clock.now_ms()
        before = self._known_at(now)
        self._state = after = to(before, now)
        if _standing(before) == _standing(after):
            return
        until = iso(after.cooldown_until)
        self._note("pixiv.gate", circuit=after.circuit_state, penalty=after.penalty_level, nothing_before=until)
        try:
            await self._rows.save(self._scope, msgspec.json.encode(after).decode(), now)
        except Unavailable as error:
            self._note("pixiv.gate_not_kept", error=error)

    async def _known(self) -> None:
        async with self._loading:
            if self._state is None:
                kept = _read(await self._rows.load(self._scope))
                self._state = rules.loaded(kept, self.pace, self._clock.now_ms())

    def _known_at(self, now: int) -> GateState:
        assert self._state is not None  # noqa: S101 -- for the type checker: `_known` came first
        self._state = rules.set_back(self._state, now)
        return self._state


def _standing(state: GateState) -> tuple[int, int, Circuit]:
    return state.cooldown_until, state.penalty_level, state.circuit_state


def _read(text: str | None) -> GateState:
    try:
        return msgspec.json.decode(text, type=GateState) if text else GateState()
    except msgspec.MsgspecError:
        return GateState()  # written by somebody else; a limit that still stands is met again
