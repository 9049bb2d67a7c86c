"""The parts of the service: which of them a request belongs to, and what that one answers when nothing goes wrong."""

from typing import Final

from pixivflow.sandbox import api, imagehost, oauth, shapes, sink, web
from pixivflow.sandbox.calls import Call
from pixivflow.sandbox.hosts import Place
from pixivflow.sandbox.message import Refused, Reply, Request, json_reply
from pixivflow.sandbox.receipts import Receipt
from pixivflow.sandbox.state import State
from pixivflow.sandbox.switches import Shape

OK: Final = json_reply({"status": "ok"})


def served(state: State, request: Request, place: Place, shape: Shape | None = None) -> Reply:
    """The answer of whatever part the place is in. `shape`: how the sink shall answer, if not as it is switched."""
    if place.kind != "sink":
        return asked(state, request, place)
    reply, receipt = received(state, request, place, shape)
    if receipt is not None:
        receipt.statuses[str(reply.status)] += 1
    return reply


def asked(state: State, request: Request, place: Place) -> Reply:
    """The answer of the fake service."""
    if request.is_oversized:
        return json_reply({"error": "the body is too large"}, 413)
    match place.kind:
        case "api" if place.path in (oauth.LOGIN, oauth.CALLBACK):
            return oauth.login_page(request, place.path, state.tokens, state.bases(request), state.now)
        case "api":
            return api.answer(_call(state, request, place), request, state.tokens)
        case "oauth" if place.path == "/auth/token" and request.method == "POST":
            ttl_s, strict = state.switches.token_ttl_s, state.options.strict
            return oauth.token(request, state.tokens, state.now, ttl_s, strict=strict)
        case "web":
            return web.answer(request, place.path, state.world, state.bases(request))
        case "img":
            return imagehost.serve(request, place.path, state.world)
        case _:
            return json_reply({"error": "nothing is here"}, 404)


def _call(state: State, request: Request, place: Place) -> Call:
    return Call(
        path=place.path,
        query=request.query,
        params=request.params,
        world=state.world,
        bases=state.bases(request),
        switches=state.switches,
        now=state.now,
    )


def received(state: State, request: Request, place: Place, shape: Shape | None) -> tuple[Reply, Receipt | None]:
    """The sink's answer, and the receipt of what arrived; how it was answered is not counted yet."""
    if request.method == "GET":
        return _sink_page(state, request, place.path), None
    try:
        arrival = sink.read(request, place.path, state.receipts, state.switches.sink.secret, state.now)
    except Refused as refused:
        return refused.reply, None
    receipt = state.receipts.arrive(arrival.kind, arrival.key, arrival.sha256, state.now)
    usual = getattr(state.switches.sink, arrival.kind, Shape())
    return shapes.answer(receipt, shape or usual), receipt


def _sink_page(state: State, request: Request, path: str) -> Reply:
    if path == "/ready":
        return OK
    if path == "/receipts":
        params = request.params
        return json_reply(state.receipts.view(params.get("kind"), params.get("key")))
    return json_reply({"error": "no such route"}, 404)
