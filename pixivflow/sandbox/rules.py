"""Which request meets which fault: rules with conditions and counts, looked through in their order."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from random import Random
from typing import Annotated, Any, Final, Literal

import msgspec

from pixivflow.sandbox.faults import Burst, Count, Deed, Fault, Vanish
from pixivflow.sandbox.hosts import Place


class Match(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Conditions; what is not said does not matter. `route`: a glob on the path, without its base or with it."""

    route: str | None = None
    query: dict[str, str | int] = {}
    work: int | None = None
    page: int | None = None
    key: str | None = None
    kind: Literal["api", "oauth", "img", "web", "sink"] | None = None


class Order(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule as it is posted. `count` and `lasts_ms` 0: for ever; a deed is done once."""

    fault: str
    id: str = ""
    match: Match = Match()
    skip: Count = 0
    count: Count = 0
    lasts_ms: Count = 0
    p: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    args: dict[str, Any] = {}
    when: Literal["before", "after"] = "before"


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What rules can tell about a request."""

    place: Place
    query: dict[str, str]
    work: int | None = None
    page: int | None = None
    key: str | None = None
    token: str = ""
    at_ms: float = 0.0
    """On a clock that never stands still."""


class Rule:
    """A posted rule and how often it was met."""

    def __init__(self, order: Order, seed: int, at_ms: float) -> None:
        self.order, self._posted_ms = order, at_ms
        self.fault: Fault = msgspec.convert({**order.args, "fault": order.fault}, Fault)
        self.rng = Random(f"rule/{seed}/{order.id}")  # noqa: S311 -- to be repeated, not to be secret
        self.seen = self.hits = 0
        self._buckets: dict[str, tuple[float, float]] = {}

    def applies(self, seen: Seen) -> bool:
        """Whether the rule takes this request; counts it if so."""
        if self._is_over(seen.at_ms) or not self._fits(seen):
            return False
        self.seen += 1
        if self.seen <= self.order.skip or self.rng.random() >= self.order.p:
            return False
        if isinstance(self.fault, Burst) and self._has_room(self.fault, seen):
            return False
        self.hits += 1
        return True

    def _is_over(self, at_ms: float) -> bool:
        count = self.order.count or (1 if isinstance(self.fault, Deed) else 0)
        late = self.order.lasts_ms and at_ms - self._posted_ms >= self.order.lasts_ms
        return bool(late) or bool(count and self.hits >= count)

    def deed_at_once(self) -> Deed | None:
        """The deed of a rule that waits for no request in particular: it is done when it is posted."""
        if isinstance(self.fault, Deed) and self.order.match == Match() and self.order.skip == 0:
            self.hits = 1
            return self.fault
        return None

    def _fits(self, seen: Seen) -> bool:
        match, place = self.order.match, seen.place
        if isinstance(self.fault, Vanish) and (seen.work != self.fault.work or not place.path.endswith("/detail")):
            return False
        if isinstance(self.fault, Burst) and place.kind != "api":
            return False
        return (
            match.kind in (None, place.kind)
            and (match.route is None or is_route(match.route, place))
            and match.work in (None, seen.work)
            and match.page in (None, seen.page)
            and match.key in (None, seen.key)
            and all(seen.query.get(name) == str(value) for name, value in match.query.items())
        )

    def _has_room(self, burst: Burst, seen: Seen) -> bool:
        """Whether the token's bucket, which fills up within the window, still holds a call; takes it out if so."""
        level, at = self._buckets.get(seen.token, (float(burst.limit), seen.at_ms))
        level = min(burst.limit, level + (seen.at_ms - at) * burst.limit / burst.window_ms)
        has_room = level >= 1
        self._buckets[seen.token] = (level - has_room, seen.at_ms)
        return has_room

    def view(self) -> dict[str, Any]:
        """The rule and its counts, for people and tests."""
        return {**msgspec.to_builtins(self.order), "seen": self.seen, "hits": self.hits}


class Rules:
    """All rules, in the order in which they were posted."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._rules: dict[str, Rule] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._rules)

    def post(self, orders: Iterable[Order], at_ms: float) -> list[Rule]:
        """Add rules; one with a known id takes the place of that one, at the end.

        Errors: `msgspec.ValidationError` for a fault or args that do not exist; then nothing was added.
        """
        made = [Rule(self._named(order), self._seed, at_ms) for order in orders]
        for rule in made:
            self._rules.pop(rule.order.id, None)
            self._rules[rule.order.id] = rule
        return made

    def _named(self, order: Order) -> Order:
        if order.id:
            return order
        self._count += 1
        return msgspec.structs.replace(order, id=f"rule-{self._count}")

    @property
    def ask_for_keys(self) -> bool:
        """Whether any rule looks at the key of a delivery, which takes reading its body."""
        return any(rule.order.match.key is not None for rule in self._rules.values())

    def remove(self, rule_id: str) -> bool:
        return self._rules.pop(rule_id, None) is not None

    def clear(self) -> None:
        self._rules.clear()

    def choose(self, seen: Seen) -> Rule | None:
        """The first rule that takes this request."""
        for rule in self._rules.values():
            if rule.applies(seen):
                return rule
        return None

    def view(self) -> list[dict[str, Any]]:
        return [rule.view() for rule in self._rules.values()]


def is_route(glob: str, place: Place) -> bool:
    """Whether the glob means this place."""
    return fnmatchcase(place.path, glob) or fnmatchcase(place.full, glob)


PRESETS: Final[dict[str, list[dict[str, Any]]]] = {
    "calm": [],
    "flaky": [
        {"fault": "status", "args": {"code": 500}, "p": 0.05},
        {"fault": "reset", "p": 0.05},
        {"fault": "latency", "args": {"ms": 50, "jitter_ms": 350}, "p": 0.05},
    ],
    "limited": [{"fault": "burst", "args": {"limit": 30, "window_ms": 10_000, "status": 403}}],
    "storm": [{"fault": "rate_429", "args": {"retry_after": 2}, "count": 20}],
    "expiry": [],
    "brownout": [{"fault": "status", "args": {"code": 503}, "lasts_ms": 15_000}],
    "dirty_images": [
        {"fault": "truncate", "args": {"after_bytes": 1_000}, "p": 0.1, "match": {"kind": "img"}},
        {"fault": "html", "p": 0.1, "match": {"kind": "img"}},
        {"fault": "empty", "p": 0.1, "match": {"kind": "img"}},
        {"fault": "bad_magic", "p": 0.1, "match": {"kind": "img"}},
    ],
}
"""Moods of a service, as rules that are added. `calm` takes all rules away; `expiry` shortens the life of tokens."""


def preset(name: str) -> list[Order]:
    """The rules of a mood, with ids of their own, so that the same mood twice is the same as once.

    Errors: `KeyError` for a mood that nobody knows.
    """
    rules = enumerate(PRESETS[name], start=1)
    return [msgspec.convert({**rule, "id": f"{name}-{at}"}, Order) for at, rule in rules]


EXPIRY_S: Final = 5
