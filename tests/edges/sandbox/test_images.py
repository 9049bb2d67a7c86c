"""The image host: who may fetch, what comes, and parts of it."""

import io
import zipfile

import msgspec
import pytest
import trio
from PIL import Image

from pixivflow.sandbox.message import Reply
from pixivflow.sandbox.serve import Sandbox
from tests.edges.sandbox.wire import heard, logged_in, parsed
from tests.fixtures.sandboxes import PIXIV, Asker


def original(ask: Asker, work: int = 100_001) -> str:
    address = ask.data("/v1/illust/detail", illust_id=work)["illust"]["meta_single_page"]["original_image_url"]
    return str(address)


def opened(reply: Reply) -> Image.Image:
    picture = Image.open(io.BytesIO(reply.body))
    picture.load()
    return picture


@pytest.mark.parametrize("referer", ["https://app-api.pixiv.net/", "https://www.pixiv.net/artworks/1"])
def test_a_picture_is_given_to_who_comes_from_pixiv(ask: Asker, referer: str) -> None:
    address = original(ask)
    without = ask("GET", address)
    reply = ask("GET", address, headers={"referer": referer})
    assert (without.status, without.body) == (403, b"")
    assert (reply.status, len(reply.body)) == (200, 40_000)
    assert ask.tell("/stats", method="GET")["missing_referer"] == 1


@pytest.mark.case("sandbox", 5)
async def test_a_picture_is_refused_to_strangers_and_is_just_as_long_as_its_header_says(sandbox: Sandbox) -> None:
    detail = await heard(
        sandbox.port, "GET", "/app/v1/illust/detail?illust_id=100001", headers=await logged_in(sandbox)
    )
    told = msgspec.json.decode(detail.body)["illust"]["meta_single_page"]["original_image_url"]
    address = told.removeprefix(f"http://127.0.0.1:{sandbox.port}")
    assert (await heard(sandbox.port, "GET", address)).status == 403

    head = f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1:{sandbox.port}\r\nReferer: {PIXIV['referer']}\r\n"
    data = b""
    async with await trio.open_tcp_stream("127.0.0.1", sandbox.port) as stream:
        await stream.send_all(f"{head}Connection: close\r\n\r\n".encode())
        async for piece in stream:  # to the end of the line, not to the end that the header tells
            data += piece
    first, _, body = data.partition(b"\r\n\r\n")
    status, headers = parsed(first)
    assert (status, len(body)) == (200, int(headers["content-length"]))
    Image.open(io.BytesIO(body)).load()


@pytest.mark.parametrize("referer", ["https://evil.example/", "https://app-api.pixiv.net.evil.example/", "pixiv"])
def test_who_only_looks_as_if_from_pixiv_gets_nothing(ask: Asker, referer: str) -> None:
    assert ask("GET", original(ask), headers={"referer": referer}).status == 403


def test_an_original_is_a_picture_of_the_size_that_the_work_has(ask: Asker) -> None:
    for work in (100_001, 100_002, 100_003, 100_004, 101_201):
        told = ask.data("/v1/illust/detail", illust_id=work)["illust"]
        reply = ask.image(told["meta_single_page"]["original_image_url"])
        picture = opened(reply)
        assert picture.size == (told["width"], told["height"])
        assert reply.header("Content-Type") == Image.MIME[picture.format or ""]


def test_no_two_pages_have_the_same_bytes(ask: Asker) -> None:
    told = ask.data("/v1/illust/detail", illust_id=101_004)["illust"]
    pages = [ask.image(page["image_urls"]["original"]).body for page in told["meta_pages"]]
    assert len(set(pages)) == len(pages) == 5


@pytest.mark.parametrize("size", ["square_medium", "medium", "large"])
def test_a_preview_is_a_small_jpeg(ask: Asker, size: str) -> None:
    told = ask.data("/v1/illust/detail", illust_id=101_001)["illust"]
    for address in (told["image_urls"][size], told["meta_pages"][1]["image_urls"][size]):
        reply = ask.image(address)
        picture = opened(reply)
        assert len(reply.body) == 8_000
        assert picture.format == "JPEG"
        assert max(picture.size) <= 600


def test_a_preview_is_there_without_its_size_in_the_path_too(ask: Asker) -> None:
    address = ask.data("/v1/illust/detail", illust_id=100_001)["illust"]["image_urls"]["large"]
    assert ask.image(address.replace("/c/600x1200_90", "")).status == 200


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("100001_p0", "100001_p1", id="a page that there is not"),
        pytest.param("100001_p0", "99999999_p0", id="a work that there is not"),
        pytest.param("/img/20", "/img/19", id="another day"),
        pytest.param("/img-original/", "/img-originals/", id="another folder"),
        pytest.param("100001_p0.", "100001_p0.webp?", id="another format"),
    ],
)
def test_only_the_exact_address_leads_to_a_picture(ask: Asker, old: str, new: str) -> None:
    address = original(ask)
    assert ask.image(address.replace(old, new)).status == 404
    assert ask.image(address).status == 200


def test_the_pictures_of_deleted_works_are_gone(ask: Asker) -> None:
    (listed,) = ask.data("/v1/search/illust", word="work 101301", search_target="title_and_caption")["illusts"]
    assert ask.image(listed["meta_single_page"]["original_image_url"]).status == 404


def test_an_archive_of_frames_holds_what_its_description_says(ask: Asker) -> None:
    told = ask.data("/v1/ugoira/metadata", illust_id=101_202)["ugoira_metadata"]
    small = told["zip_urls"]["medium"]
    for address in (small, small.replace("600x600", "1920x1080")):
        reply = ask.image(address)
        assert reply.header("Content-Type") == "application/zip"
        with zipfile.ZipFile(io.BytesIO(reply.body)) as archive:
            assert archive.testzip() is None
            assert archive.namelist() == [frame["file"] for frame in told["frames"]]
            assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
            first = Image.open(io.BytesIO(archive.read("000000.jpg")))
            first.load()
    assert first.size == (600, 400)


def test_frames_are_three_to_sixty_and_stand_ten_to_five_hundred_ms(ask: Asker) -> None:
    every = [ask.data("/v1/ugoira/metadata", illust_id=101_201 + at)["ugoira_metadata"]["frames"] for at in range(20)]
    assert (min(map(len, every)), max(map(len, every))) == (3, 60)
    delays = {frame["delay"] for frames in every for frame in frames}
    assert 10 <= min(delays) < max(delays) <= 500


def test_only_an_animation_has_frames(ask: Asker) -> None:
    assert ask.call("/v1/ugoira/metadata", illust_id=100_001).status == 404


@pytest.mark.case("sandbox", 8)
def test_the_rest_of_a_picture_is_given_to_who_knows_it_and_all_of_it_to_who_does_not(ask: Asker) -> None:
    address = original(ask)
    whole = ask.image(address)
    etag = whole.header("ETag") or ""
    rest = ask.image(address, range="bytes=100-", if_range=etag)
    changed = ask.image(address, range="bytes=100-", if_range='"another"')
    assert (rest.status, rest.body) == (206, whole.body[100:])
    assert rest.header("Content-Range") == "bytes 100-39999/40000"
    assert (changed.status, changed.body) == (200, whole.body)
    assert changed.header("Content-Range") is None


@pytest.mark.parametrize(
    ("asked", "status", "content_range"),
    [
        ("bytes=0-99", 206, "bytes 0-99/40000"),
        ("bytes=39999-", 206, "bytes 39999-39999/40000"),
        ("bytes=39999-50000", 206, "bytes 39999-39999/40000"),
        ("bytes=-10", 206, "bytes 39990-39999/40000"),
        ("bytes=-50000", 206, "bytes 0-39999/40000"),
        ("bytes=40000-", 416, "bytes */40000"),
        ("bytes=-0", 416, "bytes */40000"),
        pytest.param("bytes=9-1", 200, None, id="backwards is no range"),
        pytest.param("bytes=0-1,5-6", 200, None, id="several at once are not given"),
        pytest.param("pages=0-1", 200, None, id="another unit"),
        pytest.param("bytes=-", 200, None, id="no range at all"),
    ],
)
def test_a_range_is_given_as_it_was_asked_for(ask: Asker, asked: str, status: int, content_range: str | None) -> None:
    reply = ask.image(original(ask), range=asked)
    assert (reply.status, reply.header("Content-Range")) == (status, content_range)


def test_the_date_of_a_picture_is_a_validator_too(ask: Asker) -> None:
    address = original(ask)
    date = ask.image(address).header("Last-Modified") or ""
    assert date.endswith(" GMT")
    assert ask.image(address, range="bytes=1-", if_range=date).status == 206


def test_the_validator_of_a_picture_changes_with_its_bytes(ask: Asker) -> None:
    address = original(ask)
    before = ask.image(address)
    ask.tell("/works", {"works": [{"id": 100_001, "image_bytes": 50_000}]})
    after = ask.image(address)
    assert (len(before.body), len(after.body)) == (40_000, 50_000)
    assert before.header("ETag") != after.header("ETag")


def test_pictures_are_read_and_nothing_else(ask: Asker) -> None:
    address = original(ask)
    assert ask("POST", address, headers={"referer": "https://www.pixiv.net/"}).status == 405
    head = ask("HEAD", address, headers={"referer": "https://www.pixiv.net/"})
    assert (head.status, head.header("ETag")) == (200, ask.image(address).header("ETag"))


def test_a_large_picture_is_as_large_as_asked_for(ask: Asker) -> None:
    address = original(ask)
    ask.tell("/works", {"works": [{"id": 100_001, "image_bytes": 3_000_001}]})
    reply = ask.image(address)
    assert len(reply.body) == 3_000_001
    opened(reply)
    assert ask.image(address).body == reply.body


def test_the_profile_of_a_user_is_a_picture(ask: Asker) -> None:
    user = ask.data("/v1/user/detail", user_id=5_001)["user"]
    assert opened(ask.image(user["profile_image_urls"]["medium"])).size == (170, 170)


def test_json_names_only_pictures_that_there_are(ask: Asker) -> None:
    told = ask.call("/v1/illust/detail", illust_id=101_003).body
    named = {part.decode() for part in told.split(b'"') if part.startswith(ask.base.encode() + b"/img/")}
    assert len(named) > 10
    assert {ask.image(address).status for address in named} == {200}
    assert msgspec.json.decode(told)["illust"]["page_count"] == 4
