"""Whether a receiver can take work now, asked before any of its rows is sent.

Only a route of submissions with a readiness address is asked; everything else is ready, an unknown route too: its row
is to fail where people see it. A receiver that says no costs no attempt.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import httpx

from pixivflow.config.model import HttpMultipart, Route
from pixivflow.delivery.deferral import Unready
from pixivflow.delivery.faults import Signal
from pixivflow.errors import ConfigError
from pixivflow.ids import RouteName
from pixivflow.providers.bodies import Body
from pixivflow.providers.exchange import Answer, Call, exchange
from pixivflow.providers.reveal import Reveal
from pixivflow.times import PRODUCTION, Timings


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Asks the receivers, each no more often than a quiet pump would, however often its other routes wake it.

    `routes`: those in force, asked for each question. `way_out`: as of the attempts. `now`: wall time, epoch ms.
    """

    routes: Callable[[], Mapping[RouteName, Route]]
    way_out: httpx.AsyncBaseTransport
    now: Callable[[], int]
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    timings: Timings = PRODUCTION
    _said: dict[RouteName, tuple[int, Unready]] = field(default_factory=dict, init=False)

    async def __call__(self, route: RouteName) -> Unready | None:
        """Why the route takes nothing now; None when it does, or cannot be asked. Errors: none.

        A no holds for half a poll, for the rest of a drain and for the passes between two polls.
        """
        said = self._said.pop(route, None)
        if said is not None and 0 <= self.now() - said[0] < self.timings.outbox_poll_ms // 2:
            self._said[route] = said
            return said[1]
        why = await self._asked(route)
        if why is not None:
            self._said[route] = (self.now(), why)
        return why

    async def _asked(self, route: RouteName) -> Unready | None:
        found = self.routes().get(route)
        if not isinstance(found, HttpMultipart) or not (found.readiness_url or "").strip():
            return None
        try:
            url = Reveal(self.environ).text(found.readiness_url or "")
        except ConfigError:
            return None  # the attempt will say what is wrong, and to whom
        call = Call(method="GET", url=url, body=Body(), timeout_ms=self.timings.readiness_ms)
        match await exchange(self.way_out, call):
            case Answer(status=status):
                return None if 200 <= status <= 299 else Unready(reason=f"http_{status}", status=status)
            case raised:
                return Unready(reason="timeout" if raised.signal is Signal.TIMEOUT else "connection_refused")
