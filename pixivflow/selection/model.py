"""What exists in the room of choosing: works as Pixiv tells of them, whatever reply they came in."""

from enum import StrEnum

import msgspec

from pixivflow.ids import WorkId
from pixivflow.slots.model import BoundWork, WorkType


class WorkKind(StrEnum):
    """What a work is made of. Three of the four count as illustrations where a work is named by its type."""

    ILLUSTRATION = "illustration"
    MANGA = "manga"
    UGOIRA = "ugoira"
    NOVEL = "novel"


class Tag(msgspec.Struct, frozen=True):
    """A tag as its author wrote it, and as Pixiv translates it."""

    name: str
    translated: str | None = None


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One picture of a work.

    Shape: `index` counts from 1, as in file names and rows. `fallback_url` is a smaller rendering of the same picture.
    """

    index: int
    original_url: str
    fallback_url: str | None = None


class WorkDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One work, from a list or asked for by its id; a list may know less of it.

    Shape: `title` and `caption` as they came, the caption in HTML; `created_at` epoch ms, None where the reply holds no
    instant; `user_id` empty and `is_visible` False where Pixiv shows a placeholder instead of the work. `ai_type`: 2 is
    made by a machine, 1 is not, 0 and None say nothing. `pages` holds one entry a picture: the originals of an
    illustration or manga, nothing for a novel, and nothing for an animation, whose frames are asked for apart.
    """

    id: WorkId
    kind: WorkKind
    title: str = ""
    caption: str = ""
    user_id: str = ""
    user_name: str = ""
    tags: tuple[Tag, ...] = ()
    created_at: int | None = None
    page_count: int = 1
    bookmarks: int = 0
    views: int = 0
    x_restrict: int = 0
    ai_type: int | None = None
    is_visible: bool = True
    pages: tuple[Page, ...] = ()

    @property
    def type(self) -> WorkType:
        """The type by which cells, rows and promises name the work."""
        return WorkType.NOVEL if self.kind is WorkKind.NOVEL else WorkType.ILLUSTRATION

    @property
    def work(self) -> BoundWork:
        """The work as a cell names it."""
        return BoundWork(work_id=self.id, work_type=self.type)
