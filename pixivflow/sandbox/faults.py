"""What can go wrong on purpose, one struct a fault. Its fields are the `args` of a rule, its tag the `fault`."""

import re
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from pixivflow.sandbox.pictures import Format
from pixivflow.sandbox.switches import ShapeName

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Line: TypeAlias = Annotated[str, Meta(pattern=r"^[\x20-\x7e]*$")]
"""What can stand in a header."""
Name: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]+$")]
FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})


def _tag(name: str) -> str:
    """`Rate403` -> `rate_403`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "_", name).lower()


class _Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="fault", tag=_tag):
    pass


# --- another answer in place of the service's ---


class Status(_Fault, frozen=True, kw_only=True):
    code: Annotated[int, Meta(ge=200, le=599)]
    body: str = ""
    headers: dict[Name, Line] = {}

    def __post_init__(self) -> None:
        if FRAMING & {name.lower() for name in self.headers}:
            raise ValueError(f"{', '.join(sorted(FRAMING))} follow from the body and the fault")


class Rate403(_Fault, frozen=True, kw_only=True):
    pass


class Rate429(_Fault, frozen=True, kw_only=True):
    retry_after: Count | Line | None = None
    """Seconds or an HTTP date, as it stands in the header."""


class Burst(_Fault, frozen=True, kw_only=True):
    """Only so many data calls of one token in a window; the others are refused."""

    limit: Positive
    window_ms: Positive
    status: Literal[403, 429] = 429
    retry_after: Count | Line | None = None


class Oauth400(_Fault, frozen=True, kw_only=True):
    reason: str = "invalid_grant"


class Redirect(_Fault, frozen=True, kw_only=True):
    to: Line


class Error200(_Fault, frozen=True, kw_only=True):
    message: str = ""
    user_message: str = ""


class Vanish(_Fault, frozen=True, kw_only=True):
    """A work that is gone when it is asked for again; the rule's `skip` says how often it is still there."""

    work: int


class Answer(_Fault, frozen=True, kw_only=True):
    """An answer shape of the sink."""

    shape: ShapeName
    n: Count = 3


# --- something else changes as well ---


class ExpireTokens(_Fault, frozen=True, kw_only=True):
    pass


class RevokeRefresh(_Fault, frozen=True, kw_only=True):
    token: str


class Refuse(_Fault, frozen=True, kw_only=True):
    """The whole server is not there for a while."""

    ms: Count


# --- the service's answer, but not as it should be ---


class Latency(_Fault, frozen=True, kw_only=True):
    ms: Count
    jitter_ms: Count = 0


class SlowBody(_Fault, frozen=True, kw_only=True):
    bytes_per_s: Positive


class Stall(_Fault, frozen=True, kw_only=True):
    after_bytes: Count | None = None
    """Bytes of the body; None: not even a head is sent."""


class Truncate(_Fault, frozen=True, kw_only=True):
    after_bytes: Count
    honest_length: bool = False


class WrongLength(_Fault, frozen=True, kw_only=True):
    delta: int


class Empty(_Fault, frozen=True, kw_only=True):
    pass


class Html(_Fault, frozen=True, kw_only=True):
    as_image: bool = False


class BadMagic(_Fault, frozen=True, kw_only=True):
    pass


class WrongFormat(_Fault, frozen=True, kw_only=True):
    format: Format


class Reset(_Fault, frozen=True, kw_only=True):
    after_bytes: Count | None = None
    """Bytes of the body; None: not even a head is sent."""


class EtagChange(_Fault, frozen=True, kw_only=True):
    pass


class NoRange(_Fault, frozen=True, kw_only=True):
    pass


class StuckCursor(_Fault, frozen=True, kw_only=True):
    pass


class CursorCycle(_Fault, frozen=True, kw_only=True):
    pass


class ForeignCursor(_Fault, frozen=True, kw_only=True):
    pass


class EmptyPage(_Fault, frozen=True, kw_only=True):
    pass


class DropFields(_Fault, frozen=True, kw_only=True):
    fields: tuple[str, ...]


class BadJson(_Fault, frozen=True, kw_only=True):
    pass


Instead: TypeAlias = Status | Rate403 | Rate429 | Burst | Oauth400 | Redirect | Error200 | Vanish
"""The service is not asked at all."""
Deed: TypeAlias = ExpireTokens | RevokeRefresh
"""The request itself is answered as always, by a service that has changed."""
OnTheWire: TypeAlias = Latency | SlowBody | Stall | Truncate | WrongLength | Reset | Refuse
"""The answer is right, its way is not."""
InTheBody: TypeAlias = (
    Empty
    | Html
    | BadMagic
    | WrongFormat
    | EtagChange
    | NoRange
    | StuckCursor
    | CursorCycle
    | ForeignCursor
    | EmptyPage
    | DropFields
    | BadJson
)
"""The way is right, the answer is not."""
Fault: TypeAlias = Instead | Deed | OnTheWire | InTheBody | Answer
