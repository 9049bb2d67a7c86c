"""The web host: the JSON that the pages of works ask for. It needs no token, and a token sent to it is a leak."""

import re
from typing import Any, Final

from pixivflow.sandbox import render
from pixivflow.sandbox.clock import jst_text
from pixivflow.sandbox.hosts import Bases
from pixivflow.sandbox.message import Reply, Request, json_reply
from pixivflow.sandbox.model import HOLLOW, Tag, Visibility, Work, World

ILLUST: Final = re.compile(r"/ajax/illust/([1-9][0-9]{0,18})(|/pages|/ugoira_meta)")
PROFILE: Final = re.compile(r"/ajax/user/([1-9][0-9]{0,18})/profile/all")
UNKNOWN: Final = "この作品は存在しないか、削除されました。"


def answer(request: Request, path: str, world: World, bases: Bases) -> Reply:
    """The answer of the web host: always an envelope with `error`, `message` and `body`."""
    if request.method != "GET":
        return _none(405)
    if match := PROFILE.fullmatch(path):
        return _told(_profile(world, int(match[1])))
    match = ILLUST.fullmatch(path)
    work = world.works.get(int(match[1])) if match else None
    if match is None or work is None or work.visibility in HOLLOW or work.visibility is Visibility.DELETED:
        return _none(404)
    if match[2] == "/pages":
        return _told([_page(work, page, bases.img) for page in range(work.page_count)])
    if match[2] == "/ugoira_meta":
        return _told(_animation(work, bases.img)) if work.frames else _none(404)
    return _told(_illust(world, work, bases.img))


def _told(body: Any) -> Reply:
    return json_reply({"error": False, "message": "", "body": body})


def _none(status: int) -> Reply:
    return json_reply({"error": True, "message": UNKNOWN, "body": []}, status)


def _illust(world: World, work: Work, img: str) -> dict[str, Any]:
    return {
        "id": str(work.id),
        "title": work.title,
        "illustTitle": work.title,
        "illustType": ("illust", "manga", "ugoira").index(work.type),
        "userId": str(work.user_id),
        "userName": world.author(work).name,
        "xRestrict": work.x_restrict,
        "aiType": work.illust_ai_type,
        "pageCount": work.page_count,
        "createDate": jst_text(work.created_at),
        "width": work.width,
        "height": work.height,
        "sl": work.sanity_level,
        "restrict": work.restrict,
        "bookStyle": 0,
        "viewCount": work.total_view,
        "bookmarkCount": work.total_bookmarks,
        "commentCount": 0,
        "illustComment": work.caption,
        "userAccount": world.author(work).account,
        "urls": {"original": img + render.original_path(work, 0)},
        "tags": {"tags": [_tag(tag) for tag in work.tags]},
    }


def _tag(tag: Tag) -> dict[str, Any]:
    translated = {"translation": {"en": tag.translated_name}} if tag.translated_name else {}
    return {"tag": tag.name, **translated}


def _page(work: Work, page: int, img: str) -> dict[str, Any]:
    return {
        "urls": {"original": img + render.original_path(work, page)},
        "width": work.width,
        "height": work.height,
    }


def _animation(work: Work, img: str) -> dict[str, Any]:
    folder = f"{img}/img-zip-ugoira/img/{render.date_path(work.created_at)}"
    return {
        "src": f"{folder}/{work.id}_ugoira600x600.zip",
        "originalSrc": f"{folder}/{work.id}_ugoira1920x1080.zip",
        "mime_type": "image/jpeg",
        "frames": [{"file": frame.file, "delay": frame.delay} for frame in work.frames],
    }


def _profile(world: World, user_id: int) -> dict[str, Any]:
    own = [
        work for work in world.works.values() if work.user_id == user_id and work.visibility is not Visibility.DELETED
    ]
    manga = {str(work.id): None for work in own if work.type == "manga"}
    illusts = {str(work.id): None for work in own if work.type != "manga"}
    return {"illusts": illusts or [], "manga": manga or [], "novels": []}
