"""What must hold for the ways out of and into this process: the proxy, the endpoints, the trigger."""

from collections.abc import Iterator

from pixivflow.config.validate.addresses import is_address
from pixivflow.config.validate.findings import Finding
from pixivflow.config.validate.judges import is_blank
from pixivflow.config.validate.rules.reading import Document, error, section, warning

_HERE = "127.0.0.1"


def way_out_rules(document: Document) -> Iterator[Finding]:
    """A proxy that is on says where it is; endpoints of one's own are never unnoticed."""
    proxy = section(document, "network", "proxy")
    if proxy.get("enabled") is True:
        for key, code in (("host", "PROXY_HOST_REQUIRED"), ("port", "PROXY_PORT_INVALID")):
            if key not in proxy:
                yield error(code, ("network", "proxy", key), "is required where the proxy is enabled")
    if endpoints := section(document, "pixiv", "endpoints"):
        hint = f"{', '.join(endpoints)}: requests go there and not to Pixiv"
        yield warning("ENDPOINTS_REPLACED", ("pixiv", "endpoints"), hint)


def way_in_rules(document: Document, *, manual_token: bool) -> Iterator[Finding]:
    """A door that others can reach has a lock."""
    runtime = section(document, "schedulerRuntime")
    trigger = section(runtime, "trigger")
    on = runtime.get("mode") == "external" or trigger.get("enabled") is True
    name = trigger.get("host", _HERE)
    if not on or not isinstance(name, str) or _is_loopback(name):
        return
    at = ("schedulerRuntime", "trigger", "host")
    closed = {"the trigger": not _is_set(trigger.get("token")), "manual work and jobs": not manual_token}
    if all(closed.values()):
        variables = "SCHEDULER_TRIGGER_TOKEN or PIXIVFLOW_REFETCH_TOKEN"
        yield error("TRIGGER_TOKEN_REQUIRED", at, f"others can reach {name}: set {variables}, or listen on {_HERE}")
    elif any(closed.values()):
        routes = next(family for family, is_closed in closed.items() if is_closed)
        yield warning("ROUTES_CLOSED", at, f"the routes of {routes} stay closed: they have no token")


def _is_set(token: object) -> bool:
    return token is not None and not is_blank(token)


def _is_loopback(host: str) -> bool:
    import ipaddress  # few files name a host

    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)
