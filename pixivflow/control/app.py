"""The routes on Quart. Each one names its family, asks one function, and encodes what that answers.

Quart takes a fifth of a second to import: nobody imports this module before the door is open.
"""

from collections.abc import AsyncIterable
from typing import Any, Final, cast

import msgspec
import trio
from quart import Response, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from pixivflow.control import schedules, status, triggers
from pixivflow.control.auth import CHALLENGE, DISABLED, UNAUTHORIZED, judge, refusal
from pixivflow.control.front import App
from pixivflow.control.labels import provider
from pixivflow.control.ports import Failed, Parts, Reply
from pixivflow.control.refusals import Refusals
from pixivflow.control.wire import ErrorBody
from pixivflow.scheduling.disposition import ANSWERS, Disposition

BODY_MAX: Final = 102_400
"""The largest body that is read, in bytes."""

SWALLOWED_MAX: Final = 1_048_576
"""Of a larger one so much is read and thrown away, so that its sender hears the answer and may go on."""

TEXTS: Final = {404: "not found", 405: "method not allowed", 413: "the body is too large"}


def build(parts: Parts, refusals: Refusals) -> App:
    """The application."""
    app = QuartTrio("pixivflow.control", static_folder=None, template_folder=None)
    app.config.update(MAX_CONTENT_LENGTH=SWALLOWED_MAX, PROVIDE_AUTOMATIC_OPTIONS=False)
    app.url_map.merge_slashes = False
    app.url_map.redirect_defaults = False

    @app.post("/internal/schedules/<schedule_id>/run")
    async def run(schedule_id: str) -> Response:
        return _response(await triggers.run(parts, refusals, Quarts(parts.body_ms), schedule_id))

    @app.get("/internal/schedules")
    async def list_schedules() -> Response:
        _let_in(parts, refusals, "schedules")
        return _response(schedules.schedules(parts))

    @app.get("/status")
    async def show_status() -> Response:
        _let_in(parts, refusals, "status")
        return _response(await status.status(parts))

    @app.errorhandler(Failed)
    async def failed(error: Failed) -> Response:
        return _response(Reply(error.http_status, ErrorBody(error=error.text), error.headers))

    @app.errorhandler(HTTPException)
    async def refused(error: HTTPException) -> Response:
        code = error.code or 500
        allow = {"allow": ", ".join(sorted(error.valid_methods or ()))} if isinstance(error, MethodNotAllowed) else {}
        return _response(Reply(code, ErrorBody(error=TEXTS.get(code, error.name.lower())), allow))

    @app.errorhandler(Exception)
    async def broken(error: Exception) -> Response:
        parts.note("control.failed", path=request.path[:200], error=error)
        return _response(Reply(500, ErrorBody(error="internal error")))

    return cast("App", app)


def _let_in(parts: Parts, refusals: Refusals, route: str) -> None:
    """Errors: `Failed` for whoever does not hold the schedule token; that is counted."""
    token = parts.runtime().trigger.token
    refused = refusal(judge(token, request.headers.get("Authorization")))
    if refused is None:
        return
    who = provider(request.headers.get("X-Schedule-Provider"), token.reveal())
    refusals.count(route, refused, who, parts.clock.now_ms())
    http_status = ANSWERS[refused].http_status
    if refused is Disposition.DISABLED:
        raise Failed(http_status, DISABLED)
    raise Failed(http_status, UNAUTHORIZED, CHALLENGE)


class Quarts:
    """The request that Quart is handling, as a route sees it. `body_ms`: what its body may take to come."""

    def __init__(self, body_ms: int) -> None:
        self._body_ms = body_ms

    @property
    def method(self) -> str:
        return request.method

    @property
    def path(self) -> str:
        raw: bytes = cast("Any", request.scope)["raw_path"]
        return raw.decode("ascii", "replace")

    def header(self, name: str) -> str | None:
        return request.headers.get(name)

    async def body(self) -> bytes:
        return await read(request.body, self._body_ms)


async def read(chunks: AsyncIterable[bytes], within_ms: int) -> bytes:
    """The whole body. Errors: `Failed` with 413 when it is too large, with 408 when it does not come in time."""
    kept, size = bytearray(), 0
    try:
        with trio.fail_after(within_ms / 1000):
            async for chunk in chunks:
                size += len(chunk)
                kept += chunk if size <= BODY_MAX else b""
                if size > SWALLOWED_MAX:
                    break
    except trio.TooSlowError:
        raise Failed(408, "the body did not come") from None
    except RequestEntityTooLarge:
        size = SWALLOWED_MAX
    if size > BODY_MAX:
        raise Failed(413, TEXTS[413])
    return bytes(kept)


def _response(reply: Reply) -> Response:
    body = msgspec.json.encode(reply.body)
    return Response(body, reply.http_status, dict(reply.headers), content_type="application/json")
