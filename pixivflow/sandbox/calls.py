"""One call of a data route, and the checks that every route makes of its parameters."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

import msgspec

from pixivflow.sandbox.envelope import bad_parameter, error_reply
from pixivflow.sandbox.hosts import Bases
from pixivflow.sandbox.message import Pairs, Refused, with_query
from pixivflow.sandbox.model import World
from pixivflow.sandbox.switches import Switches

ID: Final = re.compile(r"[1-9][0-9]{0,18}")
DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request that passed the bearer check, with all that its answer depends on."""

    path: str
    """Without the base: `/v1/illust/detail`."""
    query: Pairs
    params: dict[str, str]
    world: World
    bases: Bases
    switches: Switches
    now: int

    def need(self, name: str) -> str:
        """A parameter that must be there and say something."""
        value = self.params.get(name, "")
        if not value.strip():
            raise bad_parameter(name)
        return value

    def need_id(self, name: str) -> int:
        value = self.need(name)
        if not ID.fullmatch(value):
            raise bad_parameter(name, "must be an id")
        return int(value)

    def number(self, name: str) -> int:
        """A number that may be missing: then it is 0."""
        value = self.params.get(name, "0")
        if not re.fullmatch(r"[0-9]{1,9}", value):
            raise bad_parameter(name, "must be a number")
        return int(value)

    def one_of(self, name: str, allowed: Sequence[str], default: str = "") -> str:
        """One of the allowed words; without a default the parameter must be there."""
        value = self.params.get(name, default) if default else self.need(name)
        if value not in allowed:
            raise bad_parameter(name, f"must be one of {', '.join(allowed)}")
        return value

    def day(self, name: str) -> date | None:
        """A day as `YYYY-MM-DD`, or None without one."""
        if name not in self.params:
            return None
        try:
            if DAY.fullmatch(self.params[name]):
                return date.fromisoformat(self.params[name])
        except ValueError:
            pass
        raise bad_parameter(name, "must be YYYY-MM-DD")

    @property
    def is_safe(self) -> bool:
        """Whether works with an age limit are to stay out."""
        return self.params.get("filter") == "for_ios"

    def next_url(self, **changed: object) -> str:
        """This call's own address with a cursor."""
        return with_query(self.bases.app + self.path, self.query, **changed)


def page(call: Call, ids: Sequence[int], end: int | None = None) -> tuple[Sequence[int], str | None]:
    """The ids of the asked page, and the address of the next one. `end`: the offset from which nothing is given out."""
    offset, size = call.number("offset"), call.world.page_size
    if end is not None and offset >= end:
        raise Refused(error_reply(400, f"offset: must be less than {end}"))
    following = offset + size
    more = following < len(ids) and (end is None or following < end)
    return ids[offset:following], call.next_url(offset=following) if more else None


Answer = dict[str, Any]
