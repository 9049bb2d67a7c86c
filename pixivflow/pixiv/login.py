"""Asking the login service for a new token: one form, tried again while the service does not answer."""

from typing import Final, TypeVar
from urllib.parse import urlencode

import httpx
import msgspec
import trio

from actors.kit import Clock
from pixivflow.config.model import Network, Pixiv
from pixivflow.errors import Cause, Outage, Unavailable
from pixivflow.pixiv import credentials, guise
from pixivflow.pixiv.answers import Reply
from pixivflow.pixiv.exchange import exchange
from pixivflow.pixiv.urls import token_url
from pixivflow.pixiv.wire import Granted, Nested, RefusedGrant

T = TypeVar("T")

LONGEST: Final = 5
"""No pause between two attempts is longer than so many times the first."""
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
INVALID_REFRESH: Final = 1508


class RefusedCredential(Exception):
    """The login service knows this refresh token no more."""


class Login:
    """The login service, asked in the name of the settings' client."""

    def __init__(self, pixiv: Pixiv, network: Network, transport: httpx.AsyncBaseTransport, clock: Clock) -> None:
        self._pixiv, self._network, self._transport, self._clock = pixiv, network, transport, clock

    async def refresh(self, token: str) -> Granted:
        """What the service grants for a refresh token.

        Errors: `RefusedCredential`, at once; `Outage` when no attempt brought an answer that settles it, since without
        a login nothing else can be asked for either.
        """
        first_ms = self._network.retry_delay_ms
        error = Unavailable("the login service was not asked", cause=Cause.DEFECT)
        for attempt in range(1, max(1, self._network.retries) + 1):
            try:
                return granted(await self._ask(token))
            except Unavailable as failed:
                error = failed
            if attempt < self._network.retries:
                await trio.sleep(min(first_ms * attempt, first_ms * LONGEST) / 1000)
        raise Outage(str(error), cause=error.cause) from error

    async def _ask(self, token: str) -> Reply:
        form = {
            "client_id": self._pixiv.client_id,
            "client_secret": self._pixiv.client_secret.reveal(),
            "grant_type": "refresh_token",
            "refresh_token": token,
            "include_policy": "true",
        }
        headers = {
            **guise.app_headers(self._pixiv.user_agent),
            **guise.time_headers(self._clock.now_ms()),
            **FORM,
        }
        url, limit = token_url(self._pixiv.endpoints), self._network.timeout_ms
        return await exchange(self._transport, "POST", url, headers, limit, urlencode(form).encode())


def granted(reply: Reply) -> Granted:
    """What an answer of the login service grants. Errors: `RefusedCredential`; `Unavailable` for all that may pass."""
    if reply.status in (401, 403) or (reply.status == 400 and _is_invalid(reply.body)):
        raise RefusedCredential
    if not 200 <= reply.status < 300:
        cause = Cause.LIMITED if reply.status == 429 else Cause.SERVER
        raise Unavailable(f"the login service answered HTTP {reply.status}", cause=cause)
    found = _decoded(reply.body, Granted) or _decoded(reply.body, Nested)
    grant = found.response if isinstance(found, Nested) else found
    if grant is None or not credentials.is_sound(grant):
        raise Unavailable("the login service answered something that is no token", cause=Cause.NONSENSE)
    return grant


def _decoded(body: bytes, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _is_invalid(body: bytes) -> bool:
    told = _decoded(body, RefusedGrant)
    if told is None:
        return False
    system = told.errors.get("system") if isinstance(told.errors, dict) else None
    code = system.get("code") if isinstance(system, dict) else None
    return told.error == "invalid_grant" or code == INVALID_REFRESH
