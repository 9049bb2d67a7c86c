"""Which part of the service a request is for: by its `Host` where that is a real name, else by how its path begins."""

from functools import lru_cache
from typing import Final, Literal

import msgspec

from pixivflow.sandbox.message import Request

Kind = Literal["api", "oauth", "web", "img", "static", "sink", "ctl", "none"]

REAL: Final[dict[str, Kind]] = {
    "app-api.pixiv.net": "api",
    "oauth.secure.pixiv.net": "oauth",
    "www.pixiv.net": "web",
    "i.pximg.net": "img",
    "s.pximg.net": "static",
}
BASES: Final[dict[str, Kind]] = {
    "app": "api",
    "oauth": "oauth",
    "web": "web",
    "img": "img",
    "static": "static",
    "sink": "sink",
    "_ctl": "ctl",
}
DOMAINS: Final = ("pixiv.net", "pximg.net")


class Place(msgspec.Struct, frozen=True):
    """`path` is what follows the base, always with a leading `/`; `base` is `/app` also for the real name."""

    kind: Kind
    base: str
    path: str

    @property
    def full(self) -> str:
        """The path as it would stand on the plain port."""
        return self.base + self.path


class Bases(msgspec.Struct, frozen=True):
    """The addresses that answers name."""

    app: str
    oauth: str
    web: str
    img: str


REAL_BASES: Final = Bases(
    "https://app-api.pixiv.net", "https://oauth.secure.pixiv.net", "https://www.pixiv.net", "https://i.pximg.net"
)


def local_bases(port: int) -> Bases:
    """The addresses on the plain port."""
    own = f"http://127.0.0.1:{port}"
    return Bases(f"{own}/app", f"{own}/oauth", f"{own}/web", f"{own}/img")


def locate(request: Request) -> Place:
    """The place a request is for. A name below the real domains that nobody here answers to has none."""
    return _place(request.headers.get("host", ""), request.path)


@lru_cache(maxsize=8_192)
def _place(host: str, path: str) -> Place:
    name = host.rsplit(":", 1)[0].rstrip(".").lower()
    if name in REAL:
        kind = REAL[name]
        return Place(kind, base_of(kind), path)
    if any(name == domain or name.endswith(f".{domain}") for domain in DOMAINS):
        return Place("none", "", path)
    first, _, rest = path[1:].partition("/")
    if first in BASES:
        return Place(BASES[first], f"/{first}", f"/{rest}")
    return Place("none", "", path)


def base_of(kind: Kind) -> str:
    """`/app` for `api`, and so on."""
    return next((f"/{base}" for base, of in BASES.items() if of == kind), "")
