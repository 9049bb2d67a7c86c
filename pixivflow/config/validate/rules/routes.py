"""What must hold within one route, and between routes."""

from collections.abc import Iterator

from pixivflow.config.mask import shown
from pixivflow.config.model import Delivery
from pixivflow.config.validate.findings import Finding
from pixivflow.config.validate.judges import is_whole
from pixivflow.config.validate.rules.reading import Document, error, members, routes, section, warning
from pixivflow.config.validate.shape import DEPRECATED, Place
from pixivflow.config.validate.words import unknown_names

_RETRIES = Delivery()
_PREFIX = "rv"


def route_rules(document: Document) -> Iterator[Finding]:
    """Every rule about routes and what is filled into them."""
    yield from _retries(document)
    prefixes: dict[tuple[object, object], str] = {}
    for name, route in routes(document):
        at = ("delivery", "targets", name)
        yield from _album(at, route)
        yield from _templates((*at, "fields"), section(route, "fields"))
        if route.get("type") == "telegram":
            yield from _telegram(at, route, prefixes)
    for place, target in members(document, "targets"):
        yield from _templates((*place, "delivery", "fields"), section(target, "delivery", "fields"))


def _retries(document: Document) -> Iterator[Finding]:
    delivery = section(document, "delivery")
    base = delivery.get("outboxRetryBaseMs", _RETRIES.outbox_retry_base_ms)
    most = delivery.get("outboxRetryMaxMs", _RETRIES.outbox_retry_max_ms)
    if isinstance(base, int) and isinstance(most, int) and most < base:
        at = ("delivery", "outboxRetryMaxMs")
        yield error("OUTBOX_RETRY_RANGE_INVALID", at, f"must be at least outboxRetryBaseMs ({base}), not {most}")


def _album(at: Place, route: Document) -> Iterator[Finding]:
    from pixivflow.delivery.profile import ALBUM  # few routes declare what they take

    given = section(route, "capabilities")
    least, most = given.get("albumMin", ALBUM[0]), given.get("albumMax", ALBUM[1])
    if isinstance(least, int) and isinstance(most, int) and is_whole(least) and least > most:
        at = (*at, "capabilities", "albumMin")
        yield error("DELIVERY_CAPABILITY_INVALID", at, f"must be at most albumMax ({most}), not {least}")


def _templates(at: Place, fields: Document) -> Iterator[Finding]:
    for key, value in fields.items():
        for name in unknown_names(value):
            hint = f"nothing fills {{{{{name}}}}}; the receiver gets empty text"
            yield warning("TEMPLATE_UNKNOWN", (*at, key), hint)


def _telegram(at: Place, route: Document, prefixes: dict[tuple[object, object], str]) -> Iterator[Finding]:
    yield warning(DEPRECATED, (*at, "type"), "telegram is no longer advised")
    yield from _templates(at, {"caption": route.get("caption")})
    place = (route.get("controlPlaneUrl"), route.get("reviewIdPrefix", _PREFIX))
    other = prefixes.setdefault(place, str(at[-1]))
    if other != at[-1]:
        hint = f"the route {shown((), other)} has the same prefix on the same control plane"
        yield error("TELEGRAM_REVIEW_PREFIX_DUPLICATE", (*at, "reviewIdPrefix"), hint)
