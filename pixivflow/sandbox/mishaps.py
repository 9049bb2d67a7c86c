"""A request that meets a rule: what of the service still happens, and how its answer is spoiled."""

from pixivflow.sandbox import faults, spoil
from pixivflow.sandbox.hosts import Place
from pixivflow.sandbox.message import Reply, Request
from pixivflow.sandbox.parts import OK, asked, received, served
from pixivflow.sandbox.receipts import Receipt
from pixivflow.sandbox.rules import Rule, Seen
from pixivflow.sandbox.spoil import Wire
from pixivflow.sandbox.state import State
from pixivflow.sandbox.switches import Shape


def met(state: State, request: Request, seen: Seen, rule: Rule) -> tuple[Reply, Wire]:
    """The answer under the rule's fault, and how it is sent.

    At the sink the rule says whether the request is lost or its answer: `before` the arrival is written down, or
    `after`. What only takes longer loses neither.
    """
    fault, place = rule.fault, seen.place
    match fault:
        case faults.ExpireTokens() | faults.RevokeRefresh():
            state.do(fault)
            return served(state, request, place), spoil.PLAIN
        case faults.Answer():
            return served(state, request, place, Shape(shape=fault.shape, n=fault.n)), spoil.PLAIN
        case faults.Latency() | faults.SlowBody():
            return spoil.way(fault, served(state, request, place), rule.rng)
    whole, receipt = _whole(state, request, place, rule)
    reply, wire = _spoiled(state, request, seen, rule, whole)
    if receipt is not None:
        receipt.statuses["dropped" if wire.is_lost else str(reply.status)] += 1
    return reply, wire


def _whole(state: State, request: Request, place: Place, rule: Rule) -> tuple[Reply, Receipt | None]:
    """The answer that is going to be spoiled; where another one takes its place, the service is not asked."""
    if place.kind == "sink":
        return received(state, request, place, None) if rule.order.when == "after" else (OK, None)
    if isinstance(rule.fault, faults.Instead | faults.Refuse):
        return OK, None
    return asked(state, spoil.asked(rule.fault, request), place), None


def _spoiled(state: State, request: Request, seen: Seen, rule: Rule, whole: Reply) -> tuple[Reply, Wire]:
    fault = rule.fault
    if isinstance(fault, faults.Instead):
        return spoil.instead(fault), spoil.PLAIN
    if isinstance(fault, faults.OnTheWire):
        return spoil.way(fault, whole, rule.rng)
    assert isinstance(fault, faults.InTheBody)  # noqa: S101 -- for the type checker: the others were answered before
    return spoil.spoiled(fault, whole, rule.rng, seen, state.bases(request), state.options.page_size), spoil.PLAIN
