"""Gates that hold requests back until they are released, so that a test can act while one is under way."""

import trio

from pixivflow.sandbox.hosts import Place
from pixivflow.sandbox.rules import is_route


class Gates:
    """The routes that are held, each a glob."""

    def __init__(self) -> None:
        self._held: dict[str, trio.Event] = {}

    def hold(self, route: str) -> None:
        self._held.setdefault(route, trio.Event())

    def release(self, route: str) -> bool:
        """Let everything of that glob go on. False when it was not held."""
        event = self._held.pop(route, None)
        if event is not None:
            event.set()
        return event is not None

    def release_all(self) -> None:
        for route in list(self._held):
            self.release(route)

    async def passed(self, place: Place) -> None:
        """Wait until no gate holds that place."""
        while (event := self._gate_before(place)) is not None:
            await event.wait()

    def _gate_before(self, place: Place) -> trio.Event | None:
        return next((event for route, event in self._held.items() if is_route(route, place)), None)

    @property
    def held(self) -> list[str]:
        return list(self._held)
