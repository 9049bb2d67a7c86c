"""Which addresses files come from. A work's JSON may name any address; only those of the image host are followed."""

from typing import Final
from urllib.parse import urlsplit

IMAGE: Final = ("https", "i.pximg.net", 443)
PORTS: Final = {"http": 80, "https": 443}

Origin = tuple[str, str, int]


def allowed(image: str | None) -> frozenset[Origin]:
    """The real image host, and the one of the settings (`pixiv.endpoints.image`) where there is one."""
    own = origin(image) if image else None
    return frozenset({IMAGE} if own is None else {IMAGE, own})


def origin(url: str) -> Origin | None:
    """Scheme, host and port; None for what is no plain address of the web or carries a login."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    is_plain = "@" not in parts.netloc and "\\" not in url and not any(ord(each) <= 32 for each in url)
    return (parts.scheme, parts.hostname or "", port) if is_plain else None
