"""A work as the service's JSON shows it. Rendered once for each set of addresses, then kept as bytes."""

from typing import Any, Final

import msgspec

from pixivflow.sandbox.clock import jst, jst_text
from pixivflow.sandbox.hosts import Bases
from pixivflow.sandbox.model import HOLLOW, User, Visibility, Work, World

PLACEHOLDER: Final = "https://s.pximg.net/common/images/{}_360.png"


def date_path(at_ms: int) -> str:
    """`2026/01/14/12/00/00`: the folder of a picture, by the instant at which it was uploaded."""
    return jst(at_ms).strftime("%Y/%m/%d/%H/%M/%S")


def original_path(work: Work, page: int) -> str:
    """The path of a page's original on the image host."""
    name = f"{work.id}_ugoira{page}" if work.type == "ugoira" else f"{work.id}_p{page}"
    return f"/img-original/img/{date_path(work.created_at)}/{name}.{work.ext}"


def preview_urls(work: Work, page: int, img: str) -> dict[str, str]:
    """The three sizes that stand in lists."""
    folder = f"img-master/img/{date_path(work.created_at)}/{work.id}_p{page}"
    return {
        "square_medium": f"{img}/c/360x360_70/{folder}_square1200.jpg",
        "medium": f"{img}/c/540x540_70/{folder}_master1200.jpg",
        "large": f"{img}/c/600x1200_90/{folder}_master1200.jpg",
    }


def illust(world: World, work: Work, bases: Bases, type_key: str = "type") -> msgspec.Raw:
    """The work as JSON. `type_key`: the name that its kind stands under."""
    key = ("illust", work.id, bases.img, type_key)
    if key not in world.derived:
        whole = _illust(world, work, bases.img)
        shown = {(type_key if name == "type" else name): value for name, value in whole.items()}
        world.derived[key] = msgspec.Raw(msgspec.json.encode(shown))
    raw: msgspec.Raw = world.derived[key]
    return raw


def _illust(world: World, work: Work, img: str) -> dict[str, Any]:
    hollow = work.visibility in HOLLOW
    hidden = hollow or work.visibility is Visibility.HIDDEN
    grey = PLACEHOLDER.format(work.visibility) if hollow else None
    series = world.series.get(work.series_id or 0)
    author = user(world, work.user_id, img)
    if hidden:
        author = {**author, "id": author["id"] if hollow else 0, "name": ""}
    return {
        "id": work.id,
        "title": "" if hollow else work.title,
        "type": work.type,
        "image_urls": dict.fromkeys(("square_medium", "medium", "large"), grey) if grey else preview_urls(work, 0, img),
        "caption": work.caption,
        "restrict": work.restrict,
        "user": author,
        "tags": [] if hollow else [{"name": tag.name, "translated_name": tag.translated_name} for tag in work.tags],
        "tools": [],
        "create_date": jst_text(work.created_at),
        "page_count": 1 if hollow else work.page_count,
        "width": 100 if hollow else work.width,
        "height": 100 if hollow else work.height,
        "sanity_level": work.sanity_level,
        "x_restrict": work.x_restrict,
        "series": {"id": series.id, "title": series.title} if series else None,
        **_pages(work, img, grey),
        "total_view": 0 if hollow else work.total_view,
        "total_bookmarks": 0 if hollow else work.total_bookmarks,
        "is_bookmarked": False,
        "visible": not hidden,
        "is_muted": False,
        "total_comments": 0,
        "illust_ai_type": work.illust_ai_type,
        "illust_book_style": 0,
        "comment_access_control": 0,
    }


def _pages(work: Work, img: str, grey: str | None) -> dict[str, Any]:
    if grey or work.page_count == 1:
        return {
            "meta_single_page": {"original_image_url": grey or img + original_path(work, 0)},
            "meta_pages": [],
        }
    pages = [
        {"image_urls": {**preview_urls(work, page, img), "original": img + original_path(work, page)}}
        for page in range(work.page_count)
    ]
    return {"meta_single_page": {}, "meta_pages": pages}


def user(world: World, user_id: int, img: str) -> dict[str, Any]:
    """A user as it stands in works and lists."""
    known = world.users.get(user_id) or User(id=user_id, name=f"author-{user_id}", account=f"author{user_id}")
    followed = any(user_id in group for group in world.follows.values())
    return {
        "id": known.id,
        "name": known.name,
        "account": known.account,
        "profile_image_urls": {"medium": f"{img}/user-profile/{known.id}_170.jpg"},
        "is_followed": followed,
    }
