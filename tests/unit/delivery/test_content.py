"""What is shown of a work: which files, in which order, as what."""

from collections.abc import Sequence

import pytest

from pixivflow.delivery.artifact import MediaAsset, Variant
from pixivflow.delivery.content import composed, content_of, files_of, link, measured
from pixivflow.delivery.media import AlbumPart, FilePart, ImagePart, Media, Part, TextPart, VideoPart, kind_of, mime_of
from pixivflow.errors import Rejected, Unavailable
from pixivflow.slots.model import WorkType
from tests.fixtures.works import WORK, a_file, a_novel, a_work, an_asset

V = Variant


def shape(parts: Sequence[Part]) -> list[object]:
    """Each part by its kind, an album with its length."""
    names = {TextPart: "text", ImagePart: "image", VideoPart: "video", FilePart: "file"}
    return [("album", len(part.items)) if isinstance(part, AlbumPart) else names[type(part)] for part in parts]


def shown(*paths: str) -> list[object]:
    work = a_work(*paths)
    return shape(content_of(work, work.artifacts).parts)


@pytest.mark.case("delivery", 12)
def test_of_a_novel_its_text_and_its_package_are_sent_and_nothing_that_is_internal() -> None:
    novel = a_novel(
        a_file("/w/71.md", V.MARKDOWN),
        a_file("/w/71.txt", V.TEXT),
        a_file("/w/71.json", V.METADATA),
        a_file("/w/71.zip", V.ZIP),
        a_file("/w/71.epub", V.EPUB),
        a_file("/w/cover.png", V.ORIGINAL),
        a_file("/w/preview.png", V.DELIVERY),
    )
    assert [file.path for file in files_of(novel)] == ["/w/71.txt", "/w/71.zip"]


def test_of_an_illustration_its_originals_are_sent_in_their_order_each_once() -> None:
    work = a_work("/w/2.png", " /w/1.png ", "/w/2.png", "  ", "/w/1.png")
    assert [file.path for file in files_of(work)] == ["/w/2.png", "/w/1.png"]


def test_files_that_are_known_only_by_their_pictures_are_sent_where_nothing_else_is() -> None:
    found = a_file("/w/71_p0.png", V.DELIVERY)
    stranger = MediaAsset(id="x", source_url="https://i.pximg.net/x.png", artifact_id="gone")
    work = a_work(artifacts=(found,), media_assets=(stranger, an_asset(found)))
    assert [file.path for file in files_of(work)] == ["/w/71_p0.png"]


def test_a_work_without_a_file_that_is_sent_is_refused() -> None:
    with pytest.raises(Rejected, match="71"):
        files_of(a_novel(a_file("/w/71.md", V.MARKDOWN)))


def test_a_file_that_is_gone_is_named_and_nothing_is_promised() -> None:
    files = a_work("/w/1.png", "/w/2.png", "/w/3.png").artifacts
    sizes = {"/w/1.png": 5}
    with pytest.raises(Unavailable, match=r"/w/2\.png"):
        measured(files, sizes.get)


def test_a_size_that_the_download_knows_is_kept_and_others_are_measured() -> None:
    files = (a_file("/w/1.png", size=7), a_file("/w/2.png", size=None))
    assert [file.size for file in measured(files, lambda _: 9)] == [7, 9]


@pytest.mark.case("delivery", 13)
def test_several_pictures_are_one_album_behind_the_text() -> None:
    assert shown("1.jpg", "2.png", "3.webp") == ["text", ("album", 3)]


@pytest.mark.case("delivery", 14)
def test_beside_pictures_a_video_stands_alone() -> None:
    assert shown("1.png", "2.mp4", "3.png") == ["text", ("album", 2), "video"]


@pytest.mark.case("delivery", 15)
def test_files_come_before_pictures() -> None:
    assert shown("1.png", "2.txt") == ["text", "file", "image"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["1.png"], ["text", "image"]),
        (["1.mp4"], ["text", "video"]),
        (["1.mp4", "2.webm"], ["text", ("album", 2)]),
        (["1.png", "2.mp4", "3.webm"], ["text", "image", "video", "video"]),
        (["1.zip", "2.txt", "3.pdf"], ["text", "file", "file", "file"]),
        (["1.mp4", "2.zip", "3.png", "4.png"], ["text", "file", ("album", 2), "video"]),
    ],
)
def test_no_album_holds_one_item_or_two_kinds(paths: list[str], expected: list[object]) -> None:
    assert shown(*paths) == expected


@pytest.mark.parametrize(
    ("caption", "title", "expected"),
    [
        ("  A caption \n", "Sea", "A caption"),
        (" \n", "  Sea ", "Sea\nhttps://www.pixiv.net/artworks/71"),
        ("", "  ", "https://www.pixiv.net/artworks/71"),
    ],
)
def test_the_text_is_the_caption_else_title_and_page_and_never_empty(caption: str, title: str, expected: str) -> None:
    found = composed(WorkType.ILLUSTRATION, WORK, title, [], caption=caption)
    assert found.text == expected
    assert found.parts == (TextPart(expected),)


def test_a_novel_has_a_page_of_another_kind() -> None:
    assert link(WorkType.NOVEL, "71") == "https://www.pixiv.net/novel/show.php?id=71"
    assert link(WorkType.UNKNOWN, "71") == "https://www.pixiv.net/artworks/71"


@pytest.mark.parametrize(
    ("path", "mime", "kind"),
    [
        ("/w/a.JPG", "image/jpeg", "image"),
        ("a.jpeg", "image/jpeg", "image"),
        ("a.png", "image/png", "image"),
        ("a.gif", "image/gif", "image"),
        ("a.webp", "image/webp", "image"),
        ("a.bmp", "image/bmp", "image"),
        ("a.avif", "image/avif", "image"),
        ("a.tif", "image/tiff", "image"),
        ("a.tiff", "image/tiff", "image"),
        ("a.mp4", "video/mp4", "video"),
        ("a.mov", "video/quicktime", "video"),
        ("a.webm", "video/webm", "video"),
        ("a.mkv", "video/x-matroska", "video"),
        ("a.avi", "video/x-msvideo", "video"),
        ("a.m4v", "video/x-m4v", "video"),
        ("a.txt", "text/plain", "file"),
        ("a.md", "text/markdown", "file"),
        ("a.zip", "application/zip", "file"),
        ("a.json", "application/json", "file"),
        ("a.epub", "application/octet-stream", "file"),
        ("a.png.part", "application/octet-stream", "file"),
        ("png", "application/octet-stream", "file"),
        ("", "application/octet-stream", "file"),
    ],
)
def test_a_file_is_what_its_extension_says(path: str, mime: str, kind: str) -> None:
    assert (mime_of(path), kind_of(path)) == (mime, kind)


def test_what_the_download_knows_of_a_file_outranks_its_extension_and_its_picture_is_told() -> None:
    file = a_file("/w/71_p0.png", mime_type="image/x-special")
    work = a_work(artifacts=(file,), media_assets=(an_asset(file),), preview_files=("/w/small.png",))
    [_, part] = content_of(work, files_of(work)).parts
    assert part == ImagePart(
        Media(
            path="/w/71_p0.png",
            mime="image/x-special",
            size=3,
            preview_path="/w/small.png",
            source_url="https://i.pximg.net/img/71_p0.png",
            asset_id="pixiv:71:illust:page-1",
        )
    )


def test_previews_that_are_not_as_many_as_the_files_belong_to_none_of_them() -> None:
    work = a_work("1.png", "2.png", preview_files=("small.png",))
    [_, album] = content_of(work, files_of(work)).parts
    assert isinstance(album, AlbumPart)
    assert [media.preview_path for media in album.items] == [None, None]


@pytest.mark.parametrize(("x_restrict", "spoiler"), [(None, False), (0, False), (1, True), (2, True)])
def test_a_restricted_work_is_shown_only_to_who_asks(x_restrict: int | None, spoiler: bool) -> None:
    work = a_work(x_restrict=x_restrict)
    assert content_of(work, work.artifacts).spoiler is spoiler
