"""A work comes whole and verified, under names of its own, or not at all."""

import errno
import hashlib
import os
import re
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from pixivflow.download.part import Part
from pixivflow.errors import Gone, Outage, StorageFailed, StorageFull, Unavailable
from pixivflow.slots.ports import SkipCode, Unfit
from tests.edges.download.stage import FIVE, ONE, Desk, data_of


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_every_page_is_there_under_its_name_and_with_its_hash(desk: Desk) -> None:
    work = desk.detail(FIVE)
    fetched = await desk.fetch(work)
    assert [file.page for file in fetched.files] == [1, 2, 3, 4, 5]
    assert [Path(file.path).name.rpartition(".")[0] for file in fetched.files] == [
        f"{FIVE}_work {FIVE}_{page}" for page in range(1, 6)
    ]
    for file, page in zip(fetched.files, work.pages, strict=True):
        data = data_of(file.path)
        assert (file.size, file.sha256) == (len(data), hashlib.sha256(data).hexdigest())
        assert data == desk.played.ask.image(page.original_url).body
        assert os.stat(file.path).st_mode & 0o777 == 0o644
    assert len(desk.names) == 5


@pytest.mark.case("download", 22)
async def test_a_picture_is_asked_for_as_from_pixiv_and_without_a_token(desk: Desk) -> None:
    await desk.fetch(desk.detail())
    ((_, request),) = desk.played.sent
    assert request.headers["referer"] == "https://app-api.pixiv.net/"
    assert request.headers["accept-encoding"] == "identity"
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    ("fault", "args"),
    [
        pytest.param(
            "truncate",
            {"after_bytes": 1_000, "honest_length": True},
            marks=pytest.mark.case("download", 74),
            id="cut, with a length that agrees",
        ),
        pytest.param("truncate", {"after_bytes": 1_000}, id="cut"),
        pytest.param("wrong_length", {"delta": 10}, marks=pytest.mark.case("download", 75), id="shorter than said"),
        pytest.param("html", {"as_image": True}, marks=pytest.mark.case("download", 76), id="HTML as a picture"),
        pytest.param("html", {}, id="HTML"),
        pytest.param("empty", {}, marks=pytest.mark.case("download", 77), id="empty"),
        pytest.param("bad_magic", {}, id="no picture"),
        pytest.param("reset", {"after_bytes": 5_000}, id="reset"),
        pytest.param("status", {"code": 503}, id="down"),
    ],
)
async def test_bytes_that_are_no_whole_picture_are_fetched_again_and_get_no_name(
    fault: str, args: dict[str, Any], desk: Desk
) -> None:
    work = desk.detail()
    desk.played.fault(fault, match={"kind": "img"}, count=3, **args)
    with pytest.raises(Unavailable) as raised:
        await desk.fetch(work)
    assert isinstance(raised.value, Outage) == (fault == "status")
    assert (desk.names, desk.stray, desk.asked) == (desk.parts, [], 3)
    (file,) = (await desk.fetch(work)).files
    assert desk.names == [Path(file.path).name]
    assert data_of(file.path) == desk.played.ask.image(work.pages[0].original_url).body


@pytest.mark.parametrize(
    ("fault", "args"), [("bad_magic", {}), ("truncate", {"after_bytes": 1_000, "honest_length": True})]
)
async def test_one_spoiled_answer_costs_one_more_request(fault: str, args: dict[str, Any], desk: Desk) -> None:
    desk.played.fault(fault, match={"kind": "img"}, count=1, **args)
    (file,) = (await desk.fetch(desk.detail())).files
    assert (file.size, desk.asked) == (40_000, 2)
    assert "range" not in desk.played.sent[-1][1].headers


@pytest.mark.parametrize(
    ("written_ms", "given_s"), [(None, 120), (60_000, 60), (59_000, 59), (120_000, 120)], ids=lambda value: f"{value}"
)
async def test_a_page_gets_the_time_that_is_written_and_two_minutes_where_none_is(
    written_ms: int | None, given_s: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    desk = Desk(tmp_path, retries=0, timeout_ms=written_ms)
    autojump_clock.autojump_threshold = 0.2  # files are written in threads, which look idle
    desk.played.fault("stall", match={"kind": "img"}, after_bytes=100)
    began = trio.current_time()
    with pytest.raises(Unavailable):
        await desk.fetch(desk.detail())
    assert round(trio.current_time() - began) == given_s


async def test_a_line_that_broke_is_continued_where_it_broke(desk: Desk) -> None:
    work = desk.detail()
    desk.played.fault("reset", match={"kind": "img"}, count=1, after_bytes=30_000)
    (file,) = (await desk.fetch(work)).files
    (_, first), (_, second) = desk.played.sent
    assert "range" not in first.headers
    assert second.headers["range"] == "bytes=30000-"
    assert data_of(file.path) == desk.played.ask.image(work.pages[0].original_url).body


async def test_a_part_that_nothing_can_follow_is_begun_afresh(desk: Desk) -> None:
    desk.played.fault("wrong_length", match={"kind": "img"}, count=1, delta=10)  # all came, and more was promised
    desk.played.fault("status", match={"kind": "img"}, count=1, code=416)
    (file,) = (await desk.fetch(desk.detail())).files
    assert (file.size, desk.asked) == (40_000, 3)
    assert ["range" in request.headers for _, request in desk.played.sent] == [False, True, False]


@pytest.mark.parametrize("fault", ["etag_change", "no_range"])
async def test_a_file_that_changed_meanwhile_is_begun_afresh(fault: str, desk: Desk) -> None:
    work = desk.detail()
    desk.played.fault("reset", match={"kind": "img"}, count=1, after_bytes=30_000)
    desk.played.fault(fault, match={"kind": "img"})
    (file,) = (await desk.fetch(work)).files
    assert file.size == 40_000
    assert data_of(file.path) == desk.played.ask.image(work.pages[0].original_url).body


@pytest.mark.case("download", 78)
async def test_a_picture_gets_the_extension_of_its_content(desk: Desk) -> None:
    work = desk.detail()
    desk.played.fault("wrong_format", match={"kind": "img"}, format="gif")
    (file,) = (await desk.fetch(work)).files
    assert (Path(file.path).suffix, file.format, file.mime) == (".gif", "gif", "image/gif")
    assert desk.probe.heard("download.renamed")


@pytest.mark.case("download", 81)
async def test_a_page_whose_original_is_gone_is_saved_smaller_and_marked(desk: Desk) -> None:
    desk.played.fault("status", match={"route": "/img-original/*"}, code=404)
    (file,) = (await desk.fetch(desk.detail())).files
    assert file.degraded
    assert file.size == 8_000
    assert desk.asked == 2


async def test_a_work_whose_pictures_are_all_gone_is_gone(desk: Desk) -> None:
    desk.played.fault("status", match={"kind": "img"}, code=404)
    with pytest.raises(Gone):
        await desk.fetch(desk.detail())
    assert (desk.names, desk.asked) == ([], 2)


async def test_a_picture_that_is_refused_is_asked_for_once(desk: Desk) -> None:
    desk.played.fault("status", match={"kind": "img"}, code=403)
    with pytest.raises(Unfit) as raised:
        await desk.fetch(desk.detail())
    assert (raised.value.code, desk.asked, desk.names) == (SkipCode.ACCESS_DENIED, 1, [])


@pytest.mark.parametrize(("wish", "heard"), [("7", 7), ("999999999", 3_600), ("9" * 5_000, 3_600), ("soon", None)])
async def test_what_the_host_wishes_of_who_is_too_fast_reaches_the_caller(
    wish: str, heard: int | None, tmp_path: Path
) -> None:
    desk = Desk(tmp_path, retries=0)
    desk.played.fault("rate_429", match={"kind": "img"}, retry_after=wish)
    with pytest.raises(Unavailable) as raised:
        await desk.fetch(desk.detail())
    assert raised.value.retry_after_s == heard


@pytest.mark.parametrize(
    "address",
    [
        "https://s.pximg.net/common/images/limit_sanity_level_360.png",
        "http://i.pximg.net/img-original/1_p0.jpg",
        "https://i.pximg.net.evil.example/1_p0.jpg",
        "https://i.pximg.net@evil.example/1_p0.jpg",
        "https://evil.example\\@i.pximg.net/1_p0.jpg",
        "http://127.0.0.1:9/1_p0.jpg",
        "file:///etc/passwd",
    ],
)
async def test_no_other_host_is_asked_for_a_file(address: str, desk: Desk) -> None:
    work = desk.detail()
    page = type(work.pages[0])(index=1, original_url=address)
    with pytest.raises(Unfit):
        await desk.fetch(desk.detail(pages=(page,)))
    assert desk.played.sent == []


@pytest.mark.parametrize("address", ["https://evil.example/1.jpg", "http://[::1", "http://127.0.0.1:99999999/"])
async def test_a_redirect_to_another_host_is_not_followed(address: str, desk: Desk) -> None:
    desk.played.fault("redirect", match={"kind": "img"}, to=address)
    with pytest.raises(Unfit):
        await desk.fetch(desk.detail())
    assert desk.asked == 1


async def test_redirects_without_end_are_given_up(tmp_path: Path) -> None:
    desk = Desk(tmp_path, retries=0)
    desk.played.fault("redirect", match={"kind": "img"}, to=desk.detail().pages[0].original_url)
    with pytest.raises(Unavailable):
        await desk.fetch(desk.detail())
    assert desk.asked == 4


async def test_one_page_that_cannot_be_had_leaves_no_name_and_the_rest_for_the_next_attempt(desk: Desk) -> None:
    work = desk.detail(FIVE)
    desk.played.fault("status", match={"kind": "img", "page": 4}, code=500, count=3)
    with pytest.raises(Unavailable):
        await desk.fetch(work)
    await desk.quiet()
    whole = [name for name in desk.names if name.startswith(".part-")]
    assert desk.names == whole
    assert whole
    before = desk.asked
    fetched = await desk.fetch(work)
    assert desk.asked - before == 5 - len(whole)
    assert len(fetched.files) == 5
    assert [name for name in desk.names if name.startswith(".part-")] == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"page_count": 2}, SkipCode.INVALID_METADATA),
        ({"page_count": 2**62}, SkipCode.INVALID_METADATA),
        ({"pages": ()}, SkipCode.INVALID_METADATA),
        ({"id": "../1"}, SkipCode.INVALID_METADATA),
    ],
)
async def test_a_work_that_pixiv_does_not_describe_is_passed_over(
    changed: dict[str, Any], code: SkipCode, desk: Desk
) -> None:
    with pytest.raises(Unfit) as raised:
        await desk.fetch(desk.detail(**changed))
    assert raised.value.code is code
    assert desk.played.sent == []


async def test_an_animation_is_not_fetched_here(desk: Desk) -> None:
    with pytest.raises(Unfit) as raised:
        await desk.fetch(desk.detail(101_201))
    assert raised.value.code is SkipCode.UNSUPPORTED_MEDIA


async def test_a_cancelled_fetch_leaves_no_file(desk: Desk) -> None:
    work = desk.detail()
    desk.played.fault("stall", match={"kind": "img"}, after_bytes=30_000)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(desk.fetch, work)
        while not desk.played.sent:
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    await desk.quiet()
    assert desk.names == []


async def test_a_part_that_is_given_up_while_a_thread_writes_to_it_is_closed_by_that_thread(tmp_path: Path) -> None:
    inside, go = threading.Event(), threading.Event()

    class Slow(bytes):
        def __len__(self) -> int:
            inside.set()
            assert go.wait(60)
            return super().__len__()

    part = Part(tmp_path, "12", 1)
    attempt = part.begin()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(trio.to_thread.run_sync, part.write, attempt, [Slow(b"abc")]))
        while not inside.is_set():
            await trio.lowlevel.checkpoint()
        part.drop()
        assert part.path.exists()
        go.set()
    assert not part.path.exists()
    assert part._file is not None
    assert part._file.closed


def test_a_call_that_an_attempt_left_behind_writes_nothing_into_the_next_one(tmp_path: Path) -> None:
    part = Part(tmp_path, "12", 1)
    left_behind = part.begin()
    part.write(left_behind, [b"abc"])
    part.write(part.begin(), [b"def"])
    part.write(left_behind, [b"xyz"])
    assert part.path.read_bytes() == b"abcdef"
    assert part.size == 6
    part.drop()


async def test_only_so_many_pages_are_fetched_at_once(desk: Desk) -> None:
    work = desk.detail(101_008)
    desk.played.fault("stall", match={"kind": "img"}, after_bytes=100)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(desk.fetch, work)
        while desk.played.open < 3:
            await trio.lowlevel.checkpoint()
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert desk.asked == 3
        nursery.cancel_scope.cancel()
    desk.played.ask.tell("/faults", method="DELETE")
    assert len((await desk.fetch(work)).files) == 12
    assert desk.played.most_at_once <= 3


async def test_a_full_disk_is_said_so_and_leaves_no_part(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(part: object, attempt: int, pieces: object) -> None:
        raise OSError(28, "No space left on device")

    work = desk.detail(FIVE)
    desk.played.fault("reset", match={"kind": "img", "page": 4}, after_bytes=3_000, count=3)
    with pytest.raises(Unavailable):
        await desk.fetch(work)
    assert desk.parts
    monkeypatch.setattr("pixivflow.download.part.Part.write", full)
    with pytest.raises(StorageFull):
        await desk.fetch(work)
    await desk.quiet()
    assert (desk.names, desk.staging.rows) == ([], {})


def _a_file(base: Path) -> None:
    base.write_text("x")


def _a_link_to_nothing(base: Path) -> None:
    base.symlink_to(base.parent / "nothing")


def _below_a_file(base: Path) -> None:
    base.parent.rmdir()
    base.parent.write_text("x")


@pytest.mark.parametrize("broken", [_a_file, _a_link_to_nothing, _below_a_file])
async def test_a_base_that_is_no_folder_stops_the_search_and_is_named(
    broken: Callable[[Path], None], tmp_path: Path
) -> None:
    desk = Desk(tmp_path / "files")
    desk.base.parent.mkdir()
    broken(desk.base)
    with pytest.raises(StorageFailed, match=re.escape(f"storage: {desk.base}: ")):
        await desk.fetch(desk.detail())
    assert desk.asked == 0


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (errno.EACCES, StorageFailed),
        (errno.EPERM, StorageFailed),
        (errno.EROFS, StorageFailed),
        (errno.EIO, StorageFailed),
        (errno.EMFILE, StorageFailed),
        (errno.ENFILE, StorageFailed),
        (errno.EDQUOT, StorageFull),
        (errno.ENAMETOOLONG, Unavailable),
        (errno.EINVAL, Unavailable),
        (errno.ENOENT, Unavailable),
        (errno.ENOTDIR, Unavailable),
    ],
)
async def test_a_call_to_the_disk_that_would_fail_for_every_work_stops_the_search(
    code: int, expected: type[Exception], desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(part: Part) -> int:
        raise OSError(code, os.strerror(code), str(part.path))

    monkeypatch.setattr("pixivflow.download.part.Part.begin", broken)
    with pytest.raises(Unavailable) as raised:
        await desk.fetch(desk.detail())
    assert type(raised.value) is expected
    assert str(raised.value) == f"storage: {desk.base}: {os.strerror(code)}"


async def test_a_disk_that_is_full_while_names_are_given_takes_all_of_them_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = list[str]()
    link = os.link

    def full(source: Any, path: Any, **flags: Any) -> None:
        if len(given) == 3:
            raise OSError(28, "No space left on device")
        given.append(str(path))
        link(source, path, **flags)

    monkeypatch.setattr("pixivflow.download.store.os.link", full)
    with pytest.raises(StorageFull):
        await desk.fetch(desk.detail(FIVE))
    assert len(given) == 3
    assert desk.names == []


async def test_what_is_fetched_is_on_the_disk_before_it_has_its_name(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = list[str]()
    link, fsync = os.link, os.fsync

    def linked(source: Any, path: Any, **flags: Any) -> None:
        order.append("name")
        link(source, path, **flags)

    def synced(descriptor: int) -> None:
        order.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        fsync(descriptor)

    work = desk.detail()
    desk.base.mkdir(parents=True)
    monkeypatch.setattr("pixivflow.download.store.os.link", linked)
    monkeypatch.setattr("os.fsync", synced)
    await desk.fetch(work)
    assert order == ["file", "name", "folder"]


def test_the_works_of_this_file_are_what_it_says(desk: Desk) -> None:
    assert (len(desk.detail(FIVE).pages), len(desk.detail(ONE).pages)) == (5, 1)
