"""`{{name}}` in a field of a submission: which names there are, what they say, and how a text is filled.

A template is filled from the frozen context alone, so a retry fills it as the first attempt did. What a value holds is
data: braces in a title are sent as they are, and are never filled a second time.
"""

import re
import string
from collections.abc import Callable, Mapping
from typing import Final

from pixivflow.delivery.content import link
from pixivflow.delivery.payload import Context
from pixivflow.slots.model import WorkType

PLACEHOLDER: Final = re.compile(r"\{\{([^{}]*)\}\}")

_UUID_DRESS: Final = re.compile(r"\A\{?(?:urn:uuid:)?|\}?\Z", re.IGNORECASE)


def filled(template: str, values: Mapping[str, str]) -> str:
    """`template` with every placeholder replaced; an unknown name is empty text, since a receiver has no use for
    braces."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1].strip(), ""), template)


def values_of(context: Context) -> dict[str, str]:
    """What each name says, all of them; what nobody knows is empty text."""
    return {name: value(context) for name, value in VALUES.items()}


def canonical_uuid(text: str) -> str:
    """The UUID with dashes in lower case, from any of its spellings; empty text for anything else.

    A receiver that knows only the canonical form would refuse the whole submission for a bare one.
    """
    bare = _UUID_DRESS.sub("", text.strip()).replace("-", "").lower()
    if len(bare) != 32 or not set(bare) <= set(string.hexdigits):
        return ""
    return "-".join((bare[:8], bare[8:12], bare[12:16], bare[16:20], bare[20:]))


def compact(count: int | None) -> str:
    """A number as people write it: `999`, `1.2k`, `3.5w` (ten thousands); empty when nobody knows it."""
    if count is None:
        return ""
    for unit, letter in ((10_000, "w"), (1_000, "k")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + letter
    return str(count)


def _display_title(of: Context) -> str:
    in_series = of.series_title and of.type == WorkType.NOVEL
    return f"《{of.series_title}》 {of.title}" if in_series else of.title


def _restriction(of: Context) -> str:
    known = {None: "unknown", 0: "all-ages", 1: "R-18", 2: "R-18G"}
    return known.get(of.x_restrict) or f"unknown({of.x_restrict})"


def _restriction_tag(of: Context) -> str:
    known = {None: "", 0: "AllAges", 1: "R18", 2: "R18G"}
    return known.get(of.x_restrict, f"XRestrict{of.x_restrict}")


def _link(of: Context) -> str:
    return link(WorkType.NOVEL if of.type == WorkType.NOVEL else WorkType.ILLUSTRATION, of.pixiv_id)


VALUES: Final[Mapping[str, Callable[[Context], str]]] = {
    "title": lambda of: of.title,
    "displayTitle": _display_title,
    "seriesTitle": lambda of: of.series_title,
    "pixivId": lambda of: of.pixiv_id,
    "workId": lambda of: of.pixiv_id,
    "type": lambda of: of.type,
    "targetId": lambda of: of.target_id,
    "tag": lambda of: of.tag,
    "topic": lambda of: of.topic,
    "topicTag": lambda of: of.topic or of.tag,
    "workTags": lambda of: ",".join(of.work_tags),
    "author": lambda of: of.author,
    "link": _link,
    "spoiler": lambda of: "true" if of.spoiler else "false",
    "xRestrict": lambda of: "" if of.x_restrict is None else str(of.x_restrict),
    "xRestrictLabel": _restriction,
    "xRestrictTag": _restriction_tag,
    "rankingDate": lambda of: of.ranking_date,
    "publishedDate": lambda of: of.published_at[:10],
    "language": lambda of: of.language,
    "bookmarkCount": lambda of: compact(of.bookmark_count),
    "viewCount": lambda of: compact(of.view_count),
    "scheduleId": lambda of: of.schedule_id,
    "executionId": lambda of: of.execution_id,
    "occurrenceAt": lambda of: of.occurrence_at,
    "triggerSource": lambda of: of.trigger_source,
    "slotId": lambda of: of.slot_id,
    "slotName": lambda of: of.slot_name,
    "slotDate": lambda of: of.slot_date,
    "idempotencyKey": lambda of: of.idempotency_key,
    "refetchRequestId": lambda of: canonical_uuid(of.refetch_request_id),
}
"""Every name that a submission can fill in."""
