"""The account's login: one access token at a time, renewed by one request at a time.

    bearer ── usable ─────────────────────────────▶ the token
       └───── none, or refused ── one refresh ────▶ the new one, written down before anybody uses it
                                     │              everybody who waited shares what came of it
                                     └── refused ─▶ the next credential; none left: a person must log in

A login service that does not serve is left alone for a while: who asks in that time is told at once, so that an outage
ends a scan and is not charged to one work after the other.

A refused credential is not shown to the login service again for as long as this object lives.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import httpx
import trio

from actors.kit import Clock
from pixivflow.config.model import Network, Pixiv
from pixivflow.errors import AuthNeeded, Outage, Unavailable
from pixivflow.pixiv import credentials
from pixivflow.pixiv.credentials import ACCESS, REFRESH, SEEN, Token
from pixivflow.pixiv.login import Login, RefusedCredential
from pixivflow.pixiv.patience import unhurried
from pixivflow.pixiv.ports import Note, Vault

PATIENCE_MS: Final = 1_500
"""What a cancellation leaves a refresh that is under way: its answer may hold the only token that still works."""


class Account:
    """One account.

    `margin_ms`: an access token with less time left is not begun with. `cooldown_ms`: how long a login service
    that does not serve is left alone.

    `readonly`: never ask the login service; only a token that is there already serves.
    """

    def __init__(
        self,
        pixiv: Pixiv,
        network: Network,
        transport: httpx.AsyncBaseTransport,
        vault: Vault,
        clock: Clock,
        *,
        note: Note,
        margin_ms: int,
        cooldown_ms: int,
        readonly: bool = False,
    ) -> None:
        self._name, self._login = pixiv.account_id, Login(pixiv, network, transport, clock)
        self._vault, self._clock, self._note, self._readonly = vault, clock, note, readonly
        self._margin_ms, self._cooldown_ms = margin_ms, cooldown_ms
        self._configured = pixiv.refresh_token.reveal() if pixiv.has_token else None
        self._token: Token | None = None
        self._refused: set[str] = set()
        self._one = trio.Lock()
        self._down: Outage | None = None
        self._down_until = 0
        self._unkept: Mapping[str, str] = {}

    async def bearer(self, *, stale: str | None = None) -> str:
        """An access token to begin a request with. `stale`: one that was refused, however usable it looks.

        Errors: `AuthNeeded`; `Outage` when the login service does not serve; `Unavailable` when the ledger does not.
        """
        if (token := self._usable(stale)) is not None:
            await self._keep_at_last()
            return token
        async with self._one:
            if (token := self._usable(stale)) is not None:
                return token
            self._spare()
            return (await self._renewed(stale)).access_token

    def _usable(self, stale: str | None) -> str | None:
        token = self._token
        is_good = token is not None and self._lasts(token) and token.access_token != stale
        return token.access_token if token is not None and is_good else None

    def _lasts(self, token: Token) -> bool:
        return token.expires_at > self._clock.now_ms() + self._margin_ms

    def _spare(self) -> None:
        """Errors: `Outage` while a login service is left alone. A clock that was set back ends that time."""
        left_ms = self._down_until - self._clock.now_ms()
        if self._down is not None and 0 < left_ms <= self._cooldown_ms:
            raise Outage(str(self._down), left_ms / 1000, cause=self._down.cause)

    async def _renewed(self, stale: str | None) -> Token:
        if (stored := await self._stored(stale)) is not None:
            self._token = stored
            return stored
        try:
            return await unhurried(self._exchanged, PATIENCE_MS)
        except Outage as error:
            self._down, self._down_until = error, self._clock.now_ms() + self._cooldown_ms
            raise

    async def _stored(self, stale: str | None) -> Token | None:
        """The access token that an earlier life of this process left, if it still serves."""
        stored = credentials.read(await self._vault.read(ACCESS)) if self._token is None else None
        if stored is None or stored.access_token == stale or not self._lasts(stored):
            return None
        return None if await self._is_replaced() else stored

    async def _is_replaced(self) -> bool:
        """Whether a person has put another token into the settings since."""
        seen = await self._vault.read(SEEN)
        return self._configured is not None and not self._readonly and credentials.fingerprint(self._configured) != seen

    async def _exchanged(self) -> Token:
        """A new token, written down. Errors: `AuthNeeded` when no credential is left; `Unavailable`."""
        newest = self._token or credentials.read(await self._vault.read(REFRESH))
        stored = newest.refresh_token if newest else None
        tries = credentials.order(self._configured, stored, await self._vault.read(SEEN))
        for used in self._left(tries):
            try:
                token = credentials.token_of(await self._login.refresh(used), self._clock.now_ms())
            except RefusedCredential:
                self._refused.add(used)
                self._note("pixiv.credential_refused", from_settings=used == self._configured)
                continue
            self._token = token
            await self._keep(token, used)
            return token
        raise AuthNeeded(self._name, self._why_none(tries))

    def _why_none(self, tries: Sequence[str]) -> str:
        if self._readonly:
            return "PIXIV_AUTH_READONLY forbids to ask for a new token"
        return "Pixiv refused its refresh token" if tries else "it has no refresh token"

    def _left(self, tries: Sequence[str]) -> list[str]:
        return [] if self._readonly else [each for each in tries if each not in self._refused]

    async def _keep(self, token: Token, used: str) -> None:
        """A ledger that cannot be written now must not cost a good token."""
        self._unkept = {**self._unkept, **credentials.rows(token, used, self._configured)}
        try:
            await self._written()
        except Unavailable as error:
            self._note("pixiv.token_not_kept", rotated=token.refresh_token != used, error=error)

    async def _keep_at_last(self) -> None:
        """Write what found no room, or the next life begins with a token that its own rotation has ended."""
        if self._unkept:
            with suppress(Unavailable):
                await self._written()

    async def _written(self) -> None:
        rows = self._unkept
        await self._vault.keep(rows, self._clock.now_ms())
        if self._unkept is rows:
            self._unkept = {}
