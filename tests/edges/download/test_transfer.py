"""One file over the wire: what an answer must be before a byte of it is written."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import httpx
import pytest
import trio

from pixivflow.download import transfer
from pixivflow.download.hosts import allowed
from pixivflow.download.page import Effort, pause_ms
from pixivflow.download.part import Part
from pixivflow.download.transfer import Forbidden, Transfer, Wire
from pixivflow.download.verify import Spoiled
from pixivflow.download.versions import UNKNOWN, Version
from pixivflow.errors import Unavailable

URL = "https://i.pximg.net/img/12_p0.jpg"
WHOLE = bytes(range(256)) * 40
JPEG = {"content-type": "image/jpeg"}
HALF = len(WHOLE) // 2


class Pieces(httpx.AsyncByteStream):
    """A body in pieces of a kibibyte, and then the end of the line, or of the answer. `sent`: how many bytes left."""

    def __init__(self, body: bytes, *, is_cut: bool) -> None:
        self._body, self._is_cut, self.sent = body, is_cut, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._body), 1_024):
            await trio.lowlevel.checkpoint()
            self.sent += 1_024
            yield self._body[start : start + 1_024]
        if self._is_cut:
            raise httpx.ReadError("reset")


class Host(httpx.AsyncBaseTransport):
    """An image host that gives one answer after the other."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self._answers: list[httpx.Response] = []

    def answers(self, status: int, body: bytes, headers: Mapping[str, str] = JPEG, *, is_cut: bool = False) -> Pieces:
        stream = Pieces(body, is_cut=is_cut)
        self._answers.append(httpx.Response(status, headers=dict(headers), stream=stream))
        return stream

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await trio.lowlevel.checkpoint()
        self.asked.append(request)
        return self._answers.pop(0)


class Desk:
    """One address of that host, and the part that it is fetched into."""

    def __init__(self, folder: Path) -> None:
        self.host, self.part = Host(), Part(folder, "12", 1)
        wire = Wire(transport=self.host, origins=allowed(None), user_agent="x", timeout_ms=60_000)
        self.transfer = Transfer(wire, URL, self.part, trio.CapacityLimiter(1), UNKNOWN, self._marked)

    async def _marked(self, version: Version) -> None:
        """Nobody counts on it."""

    @property
    def written(self) -> bytes:
        return self.part.path.read_bytes()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.part.drop()


async def begun(desk: Desk) -> None:
    """Half of the file is there when the line breaks."""
    desk.host.answers(200, WHOLE[:HALF], {**JPEG, "etag": '"a"'}, is_cut=True)
    with pytest.raises(Unavailable):
        await desk.transfer.attempt()
    assert desk.written == WHOLE[:HALF]


async def test_a_part_is_continued_by_exactly_what_was_asked_for(desk: Desk) -> None:
    await begun(desk)
    told = f"bytes {HALF}-{len(WHOLE) - 1}/{len(WHOLE)}"
    desk.host.answers(206, WHOLE[HALF:], {**JPEG, "content-range": told})
    await desk.transfer.attempt()
    assert desk.host.asked[-1].headers["range"] == f"bytes={HALF}-"
    assert desk.written == WHOLE


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="that does not say from where"),
        pytest.param({"content-range": "bytes 0-99/100"}, id="from the beginning"),
        pytest.param({"content-range": f"bytes {HALF + 1}-{len(WHOLE)}/{len(WHOLE)}"}, id="from one byte later"),
        pytest.param({"content-range": f"bytes */{len(WHOLE)}"}, id="from nowhere"),
    ],
)
async def test_a_piece_that_was_not_asked_for_is_never_appended(headers: Mapping[str, str], desk: Desk) -> None:
    await begun(desk)
    desk.host.answers(206, b"something else", {**JPEG, **headers})
    with pytest.raises(Spoiled, match="truncated"):
        await desk.transfer.attempt()
    assert desk.written == b""
    desk.host.answers(200, WHOLE)
    await desk.transfer.attempt()
    assert desk.written == WHOLE


@pytest.mark.parametrize(
    "kind", ["application/json", "text/html", "application/octet-stream", "video/mp4", "imagery/x"]
)
async def test_what_says_that_it_is_no_picture_is_none_whatever_its_bytes_are(kind: str, desk: Desk) -> None:
    stream = desk.host.answers(200, WHOLE, {"content-type": kind})
    with pytest.raises(Spoiled, match="bad_content"):
        await desk.transfer.attempt()
    assert (desk.written, stream.sent) == (b"", 0)


@pytest.mark.parametrize("headers", [{}, {"content-type": "IMAGE/PNG"}, {"content-type": "image/webp; q=1"}])
async def test_a_picture_of_any_kind_or_of_none_is_read(headers: Mapping[str, str], desk: Desk) -> None:
    desk.host.answers(200, WHOLE, headers)
    await desk.transfer.attempt()
    assert desk.written == WHOLE


async def test_a_file_without_end_is_given_up_at_its_bound(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "FILE_BYTES", 4_096)
    stream = desk.host.answers(200, WHOLE)
    with pytest.raises(Forbidden, match="more than 4096 bytes"):
        await desk.transfer.attempt()
    assert stream.sent <= 6_144


async def test_a_file_of_just_the_bound_is_whole(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "FILE_BYTES", len(WHOLE))
    desk.host.answers(200, WHOLE)
    await desk.transfer.attempt()
    assert desk.written == WHOLE


def test_the_bound_of_a_file_is_256_mebibytes() -> None:
    assert transfer.FILE_BYTES == 268_435_456


def test_the_pause_between_two_attempts_at_a_file_grows_to_five_times_the_first() -> None:
    effort = Effort(tries=9, pause_ms=1_000)
    pauses = [pause_ms(effort, tries, Unavailable("reset")) for tries in range(1, 9)]
    assert pauses == [1_000, 2_000, 3_000, 4_000, 5_000, 5_000, 5_000, 5_000]


@pytest.mark.parametrize(("wish_s", "pause"), [(None, 2_000), (0, 2_000), (1, 2_000), (30, 30_000), (3_600, 60_000)])
def test_a_longer_wish_of_the_host_is_followed_for_up_to_a_minute(wish_s: float | None, pause: int) -> None:
    assert pause_ms(Effort(tries=9, pause_ms=1_000), 2, Unavailable("limit", wish_s)) == pause
