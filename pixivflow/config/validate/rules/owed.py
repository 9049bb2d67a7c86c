"""What must hold between targets and the routes that they name."""

from collections.abc import Iterator

from pixivflow.config.mask import shown
from pixivflow.config.validate.findings import Finding
from pixivflow.config.validate.judges import is_text
from pixivflow.config.validate.nearest import nearest
from pixivflow.config.validate.rules.reading import Document, error, members, section, words
from pixivflow.config.validate.shape import Place


def owed_rules(document: Document) -> Iterator[Finding]:
    """A route that a target names exists; works that are only cached have somewhere to go; notices too."""
    routes = section(document, "delivery", "targets")
    for at, target in members(document, "targets"):
        delivery = section(target, "delivery")
        yield from _known(at, delivery, routes)
        yield from _required(at, target, delivery)
        yield from _notices(at, target, delivery, routes)


def _known(at: Place, delivery: Document, routes: Document) -> Iterator[Finding]:
    named: list[tuple[Place, str]] = [((), "")]
    named += [(("targets", position), name) for position, name in enumerate(words(delivery.get("targets", [])))]
    named += [(("target",), name) for name in words(delivery.get("target", ""))]
    for step, name in named:
        if is_text(name) and name.strip() not in routes:
            hint = f"no route is called {shown((), name)}" + nearest(name, routes)
            yield error("DELIVERY_TARGET_UNKNOWN", (*at, "delivery", *step), hint)


def _required(at: Place, target: Document, delivery: Document) -> Iterator[Finding]:
    named = "targets" in delivery or ("target" in delivery and delivery["target"] != "")
    if target.get("storageMode") == "cache" and not named:
        place = (*at, "delivery", "target")
        yield error("DELIVERY_TARGET_REQUIRED", place, "is required with storageMode cache, or delivery.targets")


def _notices(at: Place, target: Document, delivery: Document, routes: Document) -> Iterator[Finding]:
    if section(target, "noMatchPolicy").get("notify") is not True:
        return
    first = next(filter(is_text, [*words(delivery.get("targets", [])), *words(delivery.get("target", ""))]), "")
    route = routes.get(first.strip())
    if not isinstance(route, dict) or route.get("type") != "httpMultipart" or "notificationUrl" not in route:
        place = (*at, "noMatchPolicy", "notify")
        hint = "needs a first route of type httpMultipart with a notificationUrl"
        yield error("TARGET_NO_MATCH_NOTIFICATION_MISSING", place, hint)
