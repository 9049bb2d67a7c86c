"""Addresses of works, as people paste them.

Parsed with a parser, never searched for a piece of text: `evilpixiv.net/artworks/1` is no address of Pixiv's.
"""

import re
from typing import Final
from urllib.parse import parse_qs, urlsplit

from pixivflow.errors import ConfigError

HOSTS: Final = frozenset({"pixiv.net", "www.pixiv.net", "touch.pixiv.net"})
IMAGE_HOST: Final = "i.pximg.net"
ID: Final = re.compile(r"[1-9][0-9]{0,18}")
LANGUAGE: Final = re.compile(r"[a-z]{2}")
IMAGE: Final = re.compile(r"/img/\d{4}(?:/\d\d){5}/([1-9][0-9]{0,18})_p\d")
LONGEST: Final = 2_000

SHAPES: Final = (
    re.compile(r"/artworks/(\d+)"),
    re.compile(r"/i/(\d+)"),
    re.compile(r"/users/\d+/artworks/(\d+)"),
)
"""Paths that name one illustration, without a language before them."""


def illustration(text: str) -> int:
    """The illustration that an address or a bare number names.

    Errors: `ConfigError` naming what was given when it is anything else.
    """
    found = _named(text.strip()[:LONGEST])
    if found is None or not ID.fullmatch(found):
        raise ConfigError("--url", text[:200], "unsupported_url: not the address of one illustration on Pixiv")
    return int(found)


def _named(text: str) -> str | None:
    if ID.fullmatch(text):
        return text
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
    except ValueError:
        return None
    if parts.scheme not in ("http", "https"):
        return None
    if parts.hostname == IMAGE_HOST:
        found = IMAGE.search(parts.path)
        return found[1] if found else None
    return _on_pixiv(parts.path, parts.query) if parts.hostname in HOSTS else None


def _on_pixiv(path: str, query: str) -> str | None:
    path = path.rstrip("/")
    first, _, rest = path.lstrip("/").partition("/")
    if LANGUAGE.fullmatch(first) and rest:
        path = f"/{rest}"
    if path == "/member_illust.php":
        return parse_qs(query).get("illust_id", [None])[0]
    return next((found[1] for shape in SHAPES if (found := shape.fullmatch(path))), None)
