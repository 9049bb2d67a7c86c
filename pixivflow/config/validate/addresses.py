"""Judges of addresses: of what is asked, and of hosts alone."""

import re
from typing import Final

from pixivflow.config.references import REFERENCE
from pixivflow.config.validate.judges import FIELD, Judge, is_text, judge

_HOST: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?")


def url(code: str) -> Judge:
    """An http(s) address; with `${NAME}` in it only the request can tell."""
    return judge(is_url, "an address that starts with http:// or https://, or holds ${NAME}", code)


def plain_url(code: str = FIELD) -> Judge:
    """An http(s) address without user, query and fragment."""
    return judge(_is_plain_url, "an http:// or https:// address without user, query and fragment", code)


def host(code: str = FIELD) -> Judge:
    """A host name or an IP address, nothing around it."""
    return judge(is_host, "a host name or an IP address, without scheme, port or wildcard", code)


def hosts(code: str) -> Judge:
    """A list of exact hosts."""
    expected = "a list of host names or IP addresses, without scheme, port or wildcard"
    return judge(lambda value: isinstance(value, list) and all(map(is_host, value)), expected, code)


def is_url(value: object) -> bool:
    """Whether `value` can be asked, as far as the file can tell."""
    if not isinstance(value, str):
        return False
    return REFERENCE.search(value) is not None or _parts(value) is not None


def is_host(value: object) -> bool:
    """Whether `value` is one host name or one address of version 4 or 6."""
    if not isinstance(value, str) or len(value) > 253:
        return False
    return _HOST.fullmatch(value) is not None or is_address(value)


def is_address(value: str) -> bool:
    """Whether `value` is an IP address."""
    import ipaddress  # few files hold one

    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _is_plain_url(value: object) -> bool:
    parts = _parts(value) if isinstance(value, str) else None
    return parts is not None and "@" not in parts and not any(sign in str(value) for sign in "?#")


def _parts(value: str) -> str | None:
    """The authority of an http(s) address that has a host and, if any, a port in range; None for anything else."""
    from urllib.parse import urlsplit  # heavier than the rest of this file

    if not is_text(value) or any(sign == " " or not sign.isprintable() for sign in value):
        return None
    try:
        parts = urlsplit(value)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts.netloc if fits else None
