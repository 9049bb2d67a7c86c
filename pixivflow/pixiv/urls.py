"""Addresses: where the services are, how a list is asked for, and which next pages may be followed."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

from pixivflow.config.model import Endpoints, Target
from pixivflow.errors import Cause, Unavailable
from pixivflow.pixiv import bounds

API: Final = "https://app-api.pixiv.net"
OAUTH: Final = "https://oauth.secure.pixiv.net"

SEARCH_END: Final = 5_000
"""Where Pixiv's searches end, whatever there is beyond."""
PORTS: Final = {"http": 80, "https": 443}


class PaginationError(Unavailable):
    """A list whose pages lead nowhere: what was read of it is not the whole list, and nobody may take it for that."""

    cause = Cause.NONSENSE


def api_of(endpoints: Endpoints) -> str:
    return (endpoints.api or API).rstrip("/")


def token_url(endpoints: Endpoints) -> str:
    return (endpoints.oauth or OAUTH).rstrip("/") + "/auth/token"


def address(base: str, path: str, params: Mapping[str, str]) -> str:
    """`path` below `base`, the parameters in their order."""
    return f"{base}{path}?{urlencode(params)}"


def search_params(target: Target) -> dict[str, str]:
    """How the words of a target are searched for. Days are not asked for; the walk looks at them."""
    asked = {
        "word": target.tag or "",
        "search_target": target.search_target,
        "include_translated_tag_results": "true",
        "sort": target.sort,
    }
    return asked if target.r18 else {**asked, "filter": "for_ios"}


def ranking_params(target: Target, date: str | None) -> dict[str, str]:
    """The ranking of a day; without one, the newest."""
    asked = {"mode": target.ranking_mode, "filter": "for_ios"}
    return asked if date is None else {**asked, "date": date}


def following(next_url: str | None, base: str, walked: set[str]) -> str | None:
    """The page after this one, None at the end of the list. `walked`: every page of this walk so far.

    Errors: `PaginationError` for another host, which must not see our token, and for a page that was read before.
    """
    if not next_url:
        return None
    if origin(next_url) != origin(base):
        raise PaginationError("the next page of a list is on another host")
    if next_url in walked:
        raise PaginationError("the next page of a list is one that was read before")
    return next_url


def origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None for what is no plain address of the web or carries a login."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return None if "@" in parts.netloc or "\\" in url else (parts.scheme, parts.hostname or "", port)


def offset_of(url: str) -> int:
    """Where a page begins in its list."""
    return bounds.digits(parse_qs(urlsplit(url).query).get("offset", ["0"])[-1])
