"""From what arrived to the works that the rooms know. Total: whatever does not fit is absent, never an error."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pixivflow.ids import WorkId
from pixivflow.pixiv import bounds
from pixivflow.pixiv.wire import Illust, Urls
from pixivflow.selection.model import Page, Tag, WorkDetail, WorkKind
from pixivflow.times import from_utc_text

KINDS: Final = {"manga": WorkKind.MANGA, "ugoira": WorkKind.UGOIRA}
PLACEHOLDER: Final = "/common/images/limit_"
"""Stands in the address of every grey picture that Pixiv shows in place of a work."""
LATEST: Final = 253_402_214_400_000
"""The last day of the year 9999: a later instant has no date everywhere on earth."""


def works(items: Sequence[msgspec.Raw]) -> tuple[WorkDetail, ...]:
    """The works of a list, without the items that are none or have no id."""
    return tuple(made for item in items if (made := _read(item)) is not None)


def _read(item: msgspec.Raw) -> WorkDetail | None:
    try:
        return work(msgspec.json.decode(item, type=Illust))
    except msgspec.MsgspecError:
        return None


def work(illust: Illust) -> WorkDetail | None:
    """The work, None without an id. A placeholder has no pages: nobody shall take its grey picture for the work."""
    work_id = bounds.id_text(illust.id)
    if not work_id:
        return None
    is_visible = not is_placeholder(illust)
    user = illust.user
    kind = KINDS.get(illust.type or illust.illust_type or "", WorkKind.ILLUSTRATION)
    return WorkDetail(
        id=WorkId(work_id),
        kind=kind,
        title=illust.title or "",
        caption=illust.caption or "",
        user_id=bounds.id_text(user.id) if user and is_visible else "",
        user_name=(user.name or "") if user else "",
        tags=tuple(Tag(tag.name, tag.translated_name) for tag in illust.tags or () if tag.name),
        created_at=instant(illust.create_date),
        page_count=bounds.page_count(illust.page_count),
        bookmarks=bounds.count(illust.total_bookmarks, illust.bookmark_count),
        views=bounds.count(illust.total_view, illust.view_count),
        x_restrict=bounds.count(illust.x_restrict),
        ai_type=None if illust.illust_ai_type is None else bounds.count(illust.illust_ai_type),
        is_visible=is_visible,
        pages=pages(illust) if is_visible and kind is not WorkKind.UGOIRA else (),
    )


def is_placeholder(illust: Illust) -> bool:
    """Whether Pixiv shows something else in place of the work: to this account, in this country, or to nobody."""
    single = illust.meta_single_page
    each = [single.original_image_url if single else None, *_all(illust.image_urls)]
    each += [url for page in illust.meta_pages or () for url in _all(page.image_urls)]
    is_hidden = illust.visible is False or (illust.user is not None and str(illust.user.id or "0") == "0")
    return is_hidden or any(PLACEHOLDER in url for url in each if url)


def pages(illust: Illust) -> tuple[Page, ...]:
    """The pictures in their order, each by the best address there is of it; those without any are left out."""
    single = illust.meta_single_page.original_image_url if illust.meta_single_page else None
    if illust.meta_pages:
        found = [
            _page(at, page.image_urls, None)
            for at, page in enumerate(illust.meta_pages[: bounds.PAGES_MOST + 1], start=1)
        ]
    else:
        found = [_page(1, illust.image_urls, single)]
    return tuple(page for page in found if page is not None)


def _page(index: int, urls: Urls | None, single: str | None) -> Page | None:
    told = urls or Urls()
    original, smaller = single or told.original, told.large or told.medium
    best = original or smaller
    return Page(index=index, original_url=best, fallback_url=smaller if original else None) if best else None


def instant(text: str | None) -> int | None:
    """Epoch ms of `YYYY-MM-DDTHH:MM:SS+09:00`, None for anything else, also for what is outside of any calendar."""
    try:
        at = from_utc_text(text) if text else None
    except ValueError:
        return None
    return at if at is not None and 0 <= at < LATEST else None


def _all(urls: Urls | None) -> tuple[str | None, ...]:
    return () if urls is None else (urls.square_medium, urls.medium, urls.large, urls.original)
