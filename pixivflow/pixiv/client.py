"""Asking the App API: at the account's pace, with its token, as often as the settings allow, to one typed end.

limited         the gate cools down, then again
token refused   one refresh, then again; refused once more: the login is dead
down, broken    a growing pause, then again; in the end an outage, or something that may pass
gone, refused   at once, never again
"""

from typing import Final, assert_never

import httpx
import trio

from actors.kit import Clock
from pixivflow.config.model import Network, Pixiv
from pixivflow.errors import AuthNeeded, Cause, Gone, Outage, Rejected, Unavailable
from pixivflow.pixiv import guise
from pixivflow.pixiv.answers import Broken, Down, Limited, Meaning, Missing, Refused, Served, TokenRefused, meaning
from pixivflow.pixiv.auth import Account
from pixivflow.pixiv.exchange import Lost, exchange
from pixivflow.pixiv.gate import Gate
from pixivflow.pixiv.ports import Note

LONGEST: Final = 5
"""No pause between two attempts is longer than so many times the first."""


class Client:
    """Requests of one account."""

    def __init__(
        self,
        pixiv: Pixiv,
        network: Network,
        transport: httpx.AsyncBaseTransport,
        account: Account,
        gate: Gate,
        clock: Clock,
        *,
        note: Note,
    ) -> None:
        self._headers = {**guise.app_headers(pixiv.user_agent), "Referer": guise.REFERER}
        self._name, self._network, self._transport = pixiv.account_id, network, transport
        self._account, self._gate, self._clock, self._note = account, gate, clock, note

    async def get(self, url: str, *, item: str, source: str) -> bytes:
        """The JSON object at `url`. `item`, `source`: what an error is about.

        Errors: `Gone`, `Rejected`; `AuthNeeded`; `Outage`, `Unavailable`.
        """
        stale: str | None = None
        last: Exception = Unavailable("Pixiv was not asked", cause=Cause.DEFECT)
        attempt = 0
        while attempt <= self._network.retries:
            found, token = await self._once(url, stale)
            match found:
                case Served(body):
                    return body
                case Missing(text):
                    raise Gone(item, source, text)
                case Refused(text):
                    raise Rejected(item, source, text)
                case TokenRefused() if stale is not None:
                    raise AuthNeeded(self._name, "Pixiv refused the token that it had just given")
                case TokenRefused():
                    stale = token
                    continue  # the refresh is no attempt at the request
                case Limited(wait_ms):
                    wish_s = None if wait_ms is None else wait_ms / 1000
                    last = Unavailable("Pixiv limits this account", wish_s, cause=Cause.LIMITED)
                    pause = 0
                case Down(text):
                    last, pause = Outage(f"{source} {item}: {text}"), self._pause(attempt)
                case Broken(text, cause):
                    last, pause = Unavailable(f"{source} {item}: {text}", cause=cause), self._pause(attempt)
                case _:
                    assert_never(found)
            attempt += 1
            self._note("pixiv.attempt_failed", source=source, item=item, attempt=attempt, error=str(last))
            if attempt <= self._network.retries:
                await trio.sleep(pause / 1000)
        raise last

    async def _once(self, url: str, stale: str | None) -> tuple[Meaning, str]:
        """One attempt, and the token that it was made with. The deadline begins when the request leaves."""
        async with self._gate.turn() as turn:
            token = await self._account.bearer(stale=stale)
            headers = {**self._headers, "Authorization": f"Bearer {token}"}
            try:
                reply = await exchange(self._transport, "GET", url, headers, self._network.timeout_ms)
            except Lost as lost:
                return Broken(str(lost), lost.cause), token
            found = meaning(reply, self._clock.now_ms(), token)
            if isinstance(found, Limited):
                await turn.limited(found.wait_ms)
            elif not isinstance(found, Down | Broken):
                await turn.served()
            return found, token

    def _pause(self, attempt: int) -> int:
        first_ms = self._network.retry_delay_ms
        return min(first_ms * (attempt + 1), first_ms * LONGEST)
