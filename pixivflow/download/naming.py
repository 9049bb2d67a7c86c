"""Names of files and folders, from texts that anybody may have written. Pure.

A name is made of one path component: no separator, no control character, nothing that a system reserves. A long title
is cut, never the id, the page or the extension.
"""

import re
import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from pathlib import PurePosixPath
from typing import Final, assert_never
from urllib.parse import urlsplit

from pathvalidate import sanitize_filename

from pixivflow.config.model import Target
from pixivflow.config.model.files import Organization
from pixivflow.selection.model import WorkDetail

NAME_BYTES: Final = 230
FOLDER_BYTES: Final = 80
JAPAN: Final = timezone(timedelta(hours=9))
EXTENSIONS: Final = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".zip")

_SEPARATORS: Final = re.compile(r'[/:*?"<>|\\]')
_BLANKS: Final = re.compile(r"\s+")
_UNSEEN: Final = re.compile(r"[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_SURROGATES: Final = re.compile(r"[\ud800-\udfff]")


def page_name(work: WorkDetail, page: int, extension: str) -> str:
    """`{id}_{title}_{page}{ext}`, at most 230 bytes of UTF-8. `page` counts from 1."""
    ending = f"_{page}{extension}"
    room = NAME_BYTES - len(work.id) - 1 - len(ending)
    return f"{work.id}_{title(work.title, room)}{ending}"


def title(text: str, room: int) -> str:
    """A title as it stands in a name: at most `room` bytes, never empty."""
    return cut(_clean(text).rstrip(". "), room).rstrip(". ") or "untitled"


def folder_part(text: str) -> str:
    """One folder, named after a person or a tag; `unknown` where nothing of the text is left."""
    plain = _clean(text).replace(".", "_")
    kept = cut(plain.replace(" ", "_").strip("_"), FOLDER_BYTES).strip("_") or "unknown"
    return str(sanitize_filename(kept, platform="universal"))  # what a system reserves gets a `_` at its end


def _clean(text: str) -> str:
    blanked = _BLANKS.sub(" ", _SURROGATES.sub("_", text))
    return _SEPARATORS.sub("_", unicodedata.normalize("NFC", _UNSEEN.sub("", blanked))).strip()


def cut(text: str, room: int) -> str:
    """The first characters of `text` that fit into `room` bytes of UTF-8; none of them is cut itself."""
    return text if len(text.encode()) <= room else text.encode()[:room].decode(errors="ignore")


def extension_of(url: str) -> str:
    """The extension that the address names, `.jpg` for one that no picture has."""
    found = PurePosixPath(urlsplit(url).path).suffix.lower()
    return found if found in EXTENSIONS else ".jpg"


def label(target: Target) -> str:
    """After what a target's own folder is named; empty when it is after nothing."""
    return target.label or (f"illust-{target.illust_id}" if target.illust_id is not None else "")


def folder(base_name: str, organization: Organization, work: WorkDetail, tag: str, now: int) -> tuple[str, ...]:
    """The folders below the base, outermost first. `base_name`: the base's own last part. `now`: epoch ms."""
    author = folder_part(work.user_name)
    made = work.created_at if work.created_at is not None else now
    tagged = folder_part(tag) if tag else "untagged"
    kind = () if base_name.lower().endswith(("illustrations", "novels")) else ("illustrations",)
    match organization:
        case "flat":
            return ()
        case "byAuthor":
            return (author,)
        case "byTag":
            return (tagged,)
        case "byAuthorAndTag":
            return author, tagged
        case "byDate":
            return _day(made, "%Y-%m"), *kind
        case "byDay":
            return _day(made), *kind
        case "byDownloadDate":
            return _day(now, "%Y-%m"), *kind
        case "byDownloadDay":
            return _day(now), *kind
        case "byDateAndAuthor":
            return _day(made, "%Y-%m"), *kind, author
        case "byDayAndAuthor":
            return _day(made), *kind, author
        case "byDownloadDateAndAuthor":
            return _day(now, "%Y-%m"), *kind, author
        case "byDownloadDayAndAuthor":
            return _day(now), *kind, author
        case _:
            assert_never(organization)


def _day(at_ms: int, form: str = "%Y-%m-%d") -> str:
    """The day in Japan, where works are dated."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(JAPAN).strftime(form)
