"""The control routes: what a test changes in the sandbox, and what it reads from it. They are never traffic."""

from collections.abc import Callable
from datetime import date
from typing import Any, Final, Literal

import msgspec

from pixivflow.sandbox.clock import from_text
from pixivflow.sandbox.fixture import Fixture, known_mode, put
from pixivflow.sandbox.message import Reply, Request, json_of, json_reply
from pixivflow.sandbox.rules import EXPIRY_S, Order, preset
from pixivflow.sandbox.state import State
from pixivflow.sandbox.switches import switched
from pixivflow.times import iso


class Ranking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    mode: str
    date: date
    ids: tuple[int, ...]


class Move(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the manual clock goes: to an instant, forward, or both."""

    set: str | None = None
    advance_ms: int = 0


class Gate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    route: str
    action: Literal["hold", "release"]


class Expectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    route: str
    min: int = 0
    max: int | None = None


class Expect(msgspec.Struct, frozen=True, kw_only=True, rename={"expectations": "assert"}):
    expectations: tuple[Expectation, ...]


def answer(state: State, request: Request, path: str, t_ms: float) -> Reply:
    """The answer of a control route; what is wrong with a command is said in its text, with 400."""
    verb = request.method, "/faults/{id}" if path.startswith("/faults/") else path
    route = ROUTES.get(verb)
    if route is None:
        known = [method for method, each in ROUTES if each == verb[1]]
        return json_reply({"error": "no such route", "methods": known}, 405 if known else 404)
    try:
        return route(state, request, t_ms)
    except ValueError as error:
        return json_reply({"error": str(error)}, 400)


def _done(**more: Any) -> Reply:
    return json_reply({"ok": True, **more})


def _read(request: Request, kind: Any) -> Any:
    """The command in the body. Errors: `ValueError` naming the field."""
    return msgspec.convert(json_of(request.body), kind)


def _health(state: State, request: Request, t_ms: float) -> Reply:
    return _done(seed=state.options.seed, now=iso(state.now))


def _reset(state: State, request: Request, t_ms: float) -> Reply:
    state.reset()
    return _done()


def _post_faults(state: State, request: Request, t_ms: float) -> Reply:
    told = json_of(request.body)
    orders = msgspec.convert(told if isinstance(told, list) else [told], list[Order])
    return _done(ids=_posted(state, orders, t_ms))


def _posted(state: State, orders: list[Order], t_ms: float) -> list[str]:
    rules = state.rules.post(orders, t_ms)
    for rule in rules:
        if (deed := rule.deed_at_once()) is not None:
            state.do(deed)
    return [rule.order.id for rule in rules]


def _get_faults(state: State, request: Request, t_ms: float) -> Reply:
    return json_reply({"rules": state.rules.view()})


def _clear_faults(state: State, request: Request, t_ms: float) -> Reply:
    state.rules.clear()
    return _done()


def _remove_fault(state: State, request: Request, t_ms: float) -> Reply:
    rule_id = request.path.rpartition("/faults/")[2]
    return _done() if state.rules.remove(rule_id) else json_reply({"error": f"no rule {rule_id}"}, 404)


def _preset(state: State, request: Request, t_ms: float) -> Reply:
    name = _read(request, dict[str, str]).get("name", "")
    try:
        orders = preset(name)
    except KeyError:
        raise ValueError(f"no preset {name!r}") from None
    if name == "calm":
        state.rules.clear()
    if name in ("calm", "expiry"):
        ttl_s = EXPIRY_S if name == "expiry" else state.options.token_ttl_s
        state.switches = msgspec.structs.replace(state.switches, token_ttl_s=ttl_s)
    return _done(ids=_posted(state, orders, t_ms))


def _works(state: State, request: Request, t_ms: float) -> Reply:
    fixture: Fixture = _read(request, Fixture)
    put(state.world, fixture, state.now)
    return _done(works=len(fixture.works), users=len(fixture.users))


def _rankings(state: State, request: Request, t_ms: float) -> Reply:
    told: Ranking = _read(request, Ranking)
    state.world.rankings[known_mode(told.mode), told.date] = told.ids
    state.world.changed()
    return _done()


def _clock(state: State, request: Request, t_ms: float) -> Reply:
    move: Move = _read(request, Move)
    state.clock.set((from_text(move.set) if move.set else state.now) + move.advance_ms)
    return _done(now=iso(state.now))


def _options(state: State, request: Request, t_ms: float) -> Reply:
    state.switches = switched(state.switches, _read(request, dict[str, Any]))
    return _done(options=state.switches)


def _get_options(state: State, request: Request, t_ms: float) -> Reply:
    return json_reply(state.switches)


def _requests(state: State, request: Request, t_ms: float) -> Reply:
    params = request.params
    since = params.get("since", "0")
    if not since.isdecimal():
        raise ValueError("since must be a number")
    found = state.journal.records(int(since), params.get("kind"), params.get("route"))
    return json_reply({"requests": [record.view() for record in found]})


def _stats(state: State, request: Request, t_ms: float) -> Reply:
    return json_reply(state.journal.view())


def _expect(state: State, request: Request, t_ms: float) -> Reply:
    told: Expect = _read(request, Expect)
    missed = state.journal.unmet((each.route, each.min, each.max) for each in told.expectations)
    return json_reply({"ok": not missed, "differences": missed}, 409 if missed else 200)


def _gate(state: State, request: Request, t_ms: float) -> Reply:
    told: Gate = _read(request, Gate)
    if told.action == "hold":
        state.gates.hold(told.route)
    elif not state.gates.release(told.route):
        raise ValueError(f"{told.route} is not held")
    return _done(held=state.gates.held)


ROUTES: Final[dict[tuple[str, str], Callable[[State, Request, float], Reply]]] = {
    ("GET", "/health"): _health,
    ("POST", "/reset"): _reset,
    ("POST", "/faults"): _post_faults,
    ("GET", "/faults"): _get_faults,
    ("DELETE", "/faults"): _clear_faults,
    ("DELETE", "/faults/{id}"): _remove_fault,
    ("POST", "/preset"): _preset,
    ("POST", "/works"): _works,
    ("POST", "/rankings"): _rankings,
    ("POST", "/clock"): _clock,
    ("POST", "/options"): _options,
    ("GET", "/options"): _get_options,
    ("GET", "/requests"): _requests,
    ("GET", "/stats"): _stats,
    ("POST", "/expect"): _expect,
    ("POST", "/gate"): _gate,
}
