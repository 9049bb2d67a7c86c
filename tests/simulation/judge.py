"""Every commit of a life, held against all laws, and against what this life knows of itself."""

from collections.abc import Iterator
from typing import Final

from actors.kit import CancelOrigin, Ended
from pixivflow.times import PRODUCTION
from tests.simulation import agreement, laws
from tests.simulation.acts import Player
from tests.simulation.chronicle import Chronicle
from tests.simulation.fates import runs_end_by_their_fate
from tests.simulation.look import SLOTS
from tests.simulation.steps import Step
from tests.simulation.story import TIMEOUT_MS
from tests.simulation.ways import Who

BRIEFLY_MS: Final = 1_000


class Judge:
    """The judge of one life. `stopping`: an orderly stop was asked for."""

    def __init__(self, chronicle: Chronicle, life: int, player: Player) -> None:
        self._chronicle, self._life, self._player = chronicle, life, player
        self._began_s: dict[str, float] = {}
        self.stopping = False

    def __call__(self, step: Step) -> None:
        chronicle, by = self._chronicle, step.by
        wrote = step.before is not step.after
        chronicle.say(self._life, step.what, by=by.owner, slot=by.slot, rows=by.rows, wrote=wrote)
        chronicle.newest_ms = max(chronicle.newest_ms, step.at)
        if step.what == "begin" and by.owner is not None:
            self._began_s[by.owner] = chronicle.now_s
        found = [fault for law in (*laws.LAWS, runs_end_by_their_fate) for fault in law(step)]
        found += [*self._origin(step), *self._at_work(step)]
        if wrote:
            found += [fault for law in agreement.LAWS for fault in law(step.after, chronicle.newest_ms)]
        chronicle.faults += [f"life {self._life}, {chronicle.now_s:.3f}, {step.what}: {each}" for each in found]

    def _origin(self, step: Step) -> Iterator[str]:
        """An end is told as what it was, and not later than its run is given up."""
        if step.by.end is None:
            return
        owner, slot = step.by.owner or "", step.by.slot
        over_ms = round(1000 * (self._chronicle.now_s - self._began_s[owner])) - TIMEOUT_MS
        frozen = self._chronicle.absences.get(self._life)
        if over_ms > PRODUCTION.drain_window_ms + BRIEFLY_MS and not frozen:
            yield f"{owner} was given up {over_ms} ms after its time was over"
        match step.by.end:
            case Ended(origin=CancelOrigin.TIMEOUT) if over_ms < 0:
                yield f"{owner} had {-over_ms} ms left and ended by a timeout"
            case Ended(origin=CancelOrigin.SHUTDOWN | None) if not self.stopping:
                yield f"{owner} ended by a stop that nobody asked for"
            case Ended(origin=CancelOrigin.CONSUMER) if slot not in self._chronicle.cancelled:
                yield f"{owner} was cancelled by nobody"

    def _at_work(self, step: Step) -> Iterator[str]:
        """Nobody takes a slot from a run of this process that is at it, whatever the clock was set to.

        A slot whose cells have all ended may be added up beside its run, which has nothing left to say about it.
        """
        for name, old, _ in step.changed(SLOTS):
            owner = self._player.at_work.get(name)
            if (
                owner is not None
                and owner == old["lease_owner"] != step.by.owner
                and step.by.who in (Who.SWEEPER, Who.RUN)
            ):
                yield f"slot {name} was taken from {owner}, who is at it"
