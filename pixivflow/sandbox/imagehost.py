"""The image host: originals, previews and archives of frames. It serves who comes from Pixiv, in ranges if asked."""

import hashlib
import io
import re
import zipfile
from typing import Final

import msgspec

from pixivflow.sandbox.clock import http_date
from pixivflow.sandbox.message import Reply, Request
from pixivflow.sandbox.model import HOLLOW, Visibility, Work, World
from pixivflow.sandbox.pictures import MIME, picture
from pixivflow.sandbox.ranges import ranged
from pixivflow.sandbox.render import date_path, original_path

REFERERS: Final = ("https://app-api.pixiv.net/", "https://www.pixiv.net/")
PREVIEW_BYTES: Final = 8_000
KEPT, KEPT_BYTES = 512, 256 << 10
ORIGINAL: Final = re.compile(r"/img-original/img/.*/([0-9]{1,19})_(?:p|ugoira)([0-9]{1,4})\.(?:jpg|png|gif)")
PREVIEW: Final = re.compile(r"(?:/c/[^/]+)?/img-master/img/(.*)/([0-9]{1,19})_p([0-9]{1,4})_(?:master|square)1200\.jpg")
ARCHIVE: Final = re.compile(r"/img-zip-ugoira/img/(.*)/([0-9]{1,19})_ugoira(600x600|1920x1080)\.zip")
PROFILE: Final = re.compile(r"/user-profile/([0-9]{1,19})_170\.jpg")
EPOCH_MS: Final = 1_700_000_000_000


class File(msgspec.Struct, frozen=True):
    """What lies at one address."""

    mime: str
    body: bytes
    etag: str
    changed_at: int


def is_referred(request: Request) -> bool:
    """Whether the request says that it comes from Pixiv."""
    return request.headers.get("referer", "").startswith(REFERERS)


def serve(request: Request, path: str, world: World) -> Reply:
    """The answer of the image host."""
    if request.method not in ("GET", "HEAD"):
        return Reply(status=405, headers=(("Allow", "GET, HEAD"),))
    if not is_referred(request):
        return Reply(status=403)
    found = world.files.get(path) or find(path, world)
    if found is None:
        return Reply(status=404)
    _keep(world.files, path, found)
    headers = (
        ("Content-Type", found.mime),
        ("Accept-Ranges", "bytes"),
        ("ETag", found.etag),
        ("Last-Modified", http_date(found.changed_at)),
    )
    return ranged(Reply(headers=headers, body=found.body), request)


def _keep(files: dict[str, File], path: str, found: File) -> None:
    """Keep some of the files, none of them large: the cache would be the largest part of the process."""
    if path not in files and len(found.body) <= KEPT_BYTES:
        if len(files) >= KEPT:
            del files[next(iter(files))]
        files[path] = found


def find(path: str, world: World) -> File | None:
    """The file at that path, or None. Only the exact address of a work that the service shows leads to it."""
    if match := ORIGINAL.fullmatch(path):
        work = _known(world, match[1])
        page = int(match[2])
        if work and page < work.page_count and original_path(work, page) == path:
            return _picture(work, page, world.seed, work.image_bytes, work.width, work.height)
    elif match := PREVIEW.fullmatch(path):
        work = _known(world, match[2])
        if work and int(match[3]) < work.page_count and date_path(work.created_at) == match[1]:
            small = msgspec.structs.replace(work, ext="jpg")
            return _picture(small, int(match[3]), world.seed, PREVIEW_BYTES, *_fitted(work, path))
    elif match := ARCHIVE.fullmatch(path):
        work = _known(world, match[2])
        if work and work.frames and date_path(work.created_at) == match[1]:
            return _archive(work, world.seed, match[3])
    elif (match := PROFILE.fullmatch(path)) and int(match[1]) in world.users:
        return _file("image/jpeg", picture("jpg", 170, 170, 4_000, path), EPOCH_MS, path)
    return None


def _known(world: World, work_id: str) -> Work | None:
    work = world.works.get(int(work_id))
    return None if work is None or work.visibility is Visibility.DELETED or work.visibility in HOLLOW else work


def _fitted(work: Work, path: str) -> tuple[int, int]:
    """The size of a preview: square ones are square, the others keep their form."""
    if "_square1200" in path:
        return 360, 360
    scale = min(1.0, 600 / max(work.width, work.height))
    return max(1, round(work.width * scale)), max(1, round(work.height * scale))


def _picture(work: Work, page: int, seed: int, size: int, width: int, height: int) -> File:
    mark = f"{seed}/{work.id}/{page}/{size}/{width}x{height}.{work.ext}"
    return _file(MIME[work.ext], picture(work.ext, width, height, size, mark), work.created_at, mark)


def _archive(work: Work, seed: int, size: str) -> File:
    """The frames, stored and not compressed, as the service packs them. The entries say nothing about the time."""
    width, height = (work.width, work.height) if size == "1920x1080" else _fitted(work, size)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for frame in work.frames:
            mark = f"{seed}/{work.id}/{size}/{frame.file}"
            archive.writestr(zipfile.ZipInfo(frame.file), picture("jpg", width, height, 6_000, mark))
    return _file("application/zip", packed.getvalue(), work.created_at, f"{seed}/{work!r}/{size}")


def _file(mime: str, body: bytes, changed_at: int, mark: str) -> File:
    """`mark`: what the bytes were made from; the validator is made from it too, which is cheaper than reading them."""
    return File(mime, body, f'"{hashlib.sha256(mark.encode()).hexdigest()[:32]}"', changed_at)
