"""A download that was cut goes on where the disk can be counted on, and never mixes two files."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
import trio
import trio.testing

from pixivflow.config.model import Network, Storage
from pixivflow.download.part import Part
from pixivflow.errors import Gone, StorageFull, Unavailable
from pixivflow.slots.model import BoundWork
from pixivflow.slots.staging import StagedPage
from tests.edges.download.stage import FIVE, ONE, Desk, data_of
from tests.fixtures.staging import FakeStaging

MIB = 1 << 20
HOUR = 3_600_000


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, retries=0)


@contextmanager
def written_by_another(path: str) -> Iterator[int]:
    """Another process has the part open; its descriptor there."""
    with Path(path).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def replaced(path: str, data: bytes, how: str) -> None:
    """The part becomes another one: `gone`, `short`, `a link` to a file that holds `data`, or `longer`."""
    part, other = Path(path), Path(path).with_name("mine")
    if how == "longer":
        data = part.read_bytes() + b"never synced" * 1_000
    part.unlink()
    if how in ("longer", "short"):
        part.write_bytes(data[:29_999] if how == "short" else data)
    if how == "a link":
        other.write_bytes(data)
        part.symlink_to(other)


async def cut(desk: Desk, number: int = ONE, after: int = 30_000) -> StagedPage:
    """One attempt that ends early; the row that it leaves. The next attempt is another process's."""
    desk.played.fault("reset", match={"kind": "img"}, count=1, after_bytes=after)
    with pytest.raises(Unavailable):
        await desk.fetch(desk.detail(number))
    await desk.quiet()
    (row,) = desk.staging.rows.values()
    desk.fetcher = desk.again()
    return row


async def test_an_attempt_that_ends_early_says_how_far_it_came_and_the_next_process_goes_on_from_there(
    desk: Desk,
) -> None:
    row = await cut(desk)
    assert (row.bytes_done, row.sha256, os.stat(row.part).st_size) == (30_000, None, 30_000)
    work = desk.detail()
    (file,) = (await desk.fetch(work)).files
    assert desk.ranges() == [None, "bytes=30000-"]
    assert desk.played.sent[-1][1].headers["if-range"] == row.validator
    data = desk.picture(work)
    assert data_of(file.path) == data
    assert (file.size, file.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert desk.parts == []


async def test_bytes_behind_those_that_were_counted_are_cut_off(desk: Desk) -> None:
    row = await cut(desk)
    replaced(row.part, b"", "longer")
    (file,) = (await desk.fetch(desk.detail())).files
    assert data_of(file.path) == desk.picture(desk.detail())


@pytest.mark.parametrize("harm", ["gone", "short", "a link"])
async def test_a_part_that_has_not_what_its_row_counts_is_not_gone_on_with(harm: str, desk: Desk) -> None:
    row = await cut(desk)
    whole = desk.picture(desk.detail())
    replaced(row.part, whole, harm)
    (file,) = (await desk.fetch(desk.detail())).files
    assert desk.ranges() == [None, None]
    assert data_of(file.path) == whole
    assert harm != "a link" or data_of(f"{desk.base / 'mine'}") == whole


async def test_another_file_at_the_address_is_fetched_from_its_beginning(desk: Desk) -> None:
    await cut(desk)
    desk.played.fault("etag_change", match={"kind": "img"})
    (file,) = (await desk.fetch(desk.detail())).files
    assert desk.ranges() == [None, "bytes=30000-"]
    assert data_of(file.path) == desk.picture(desk.detail())


@pytest.mark.parametrize(
    "told",
    ["bytes 0-39999/40000", "bytes 30001-39999/40000", "bytes 30000-39998/40000", "bytes 30000-", "", "bytes */40000"],
)
async def test_a_partial_answer_that_is_not_the_one_asked_for_is_not_appended(told: str, desk: Desk) -> None:
    await cut(desk)
    whole = desk.picture(desk.detail())
    headers = {"Content-Type": "image/jpeg", "Content-Range": told}
    desk.played.fault("status", match={"kind": "img"}, count=1, code=206, headers=headers, body="x" * 10_000)
    with pytest.raises(Unavailable):
        await desk.fetch(desk.detail())
    (file,) = (await desk.fetch(desk.detail())).files
    assert desk.ranges() == [None, "bytes=30000-", None]
    assert data_of(file.path) == whole


async def test_a_host_that_has_nothing_more_is_asked_from_the_beginning(desk: Desk) -> None:
    await cut(desk)
    desk.played.fault("status", match={"kind": "img"}, count=1, code=416)
    with pytest.raises(Unavailable):
        await desk.fetch(desk.detail())
    (file,) = (await desk.fetch(desk.detail())).files
    assert desk.ranges() == [None, "bytes=30000-", None]
    assert file.size == 40_000


class Without(httpx.AsyncBaseTransport):
    """A host that does not send some headers."""

    def __init__(self, desk: Desk, *names: str) -> None:
        self._desk, self._names = desk, names

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._desk.played.handle_async_request(request)
        for name in self._names:
            response.headers.pop(name, None)
        return response


async def test_a_file_without_a_tag_is_known_by_its_date_and_length(desk: Desk) -> None:
    desk.way_out = Without(desk, "etag")
    desk.fetcher = desk.again()
    row = await cut(desk)
    assert row.validator.endswith(" GMT")
    assert row.length == 40_000
    (file,) = (await desk.fetch(desk.detail())).files
    asked = desk.played.sent[-1][1].headers
    assert (asked["range"], asked["if-range"]) == ("bytes=30000-", row.validator)
    assert data_of(file.path) == desk.picture(desk.detail())


async def test_a_file_that_cannot_be_known_again_leaves_nothing(desk: Desk) -> None:
    desk.way_out = Without(desk, "etag", "last-modified")
    desk.fetcher = desk.again()
    desk.played.fault("reset", match={"kind": "img"}, count=1, after_bytes=30_000)
    with pytest.raises(Unavailable):
        await desk.fetch(desk.detail())
    await desk.quiet()
    assert (desk.names, desk.staging.rows) == ([], {})


async def test_every_eight_mebibytes_are_written_down_once_they_are_on_the_disk(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, fsync = list[int](), os.fsync

    def heard(descriptor: int) -> None:
        fsync(descriptor)
        if not os.path.isdir(f"/proc/self/fd/{descriptor}"):
            synced.append(os.fstat(descriptor).st_size)

    desk.enlarge(20 * MIB)
    monkeypatch.setattr("pixivflow.download.part.os.fsync", heard)
    await desk.fetch(desk.detail())
    assert [row.bytes_done for row in desk.staging.told] == [8 * MIB, 16 * MIB, 20 * MIB]
    assert synced == [8 * MIB, 16 * MIB, 20 * MIB]
    assert [row.sha256 is None for row in desk.staging.told] == [True, True, False]
    assert desk.probe.points == ["page.marked", "page.marked", "page.staged"]


async def test_pages_that_are_all_there_are_not_fetched_again_by_the_next_process(desk: Desk) -> None:
    desk.played.fault("status", match={"kind": "img", "page": 4}, code=500, count=1)
    with pytest.raises(Unavailable):
        await desk.fetch(desk.detail(FIVE))
    await desk.quiet()
    assert (whole := len(desk.parts)) > 0
    desk.fetcher, before = desk.again(), desk.asked
    fetched = await desk.fetch(desk.detail(FIVE))
    assert (desk.asked - before, len(fetched.files), desk.parts) == (5 - whole, 5, [])
    for page, file in enumerate(fetched.files, 1):
        assert data_of(file.path) == desk.picture(desk.detail(FIVE), page)


async def test_a_page_that_was_all_there_and_is_not_any_more_is_fetched_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, retries=1)
    desk.played.fault("status", match={"kind": "img", "page": 4}, code=500, count=2)
    with pytest.raises(Unavailable):
        await desk.fetch(desk.detail(FIVE))
    await desk.quiet()
    for name in desk.parts:
        part = desk.base / name
        part.write_bytes(bytes(part.stat().st_size))
    desk.fetcher, before = desk.again(), desk.asked
    fetched = await desk.fetch(desk.detail(FIVE))
    assert (desk.asked - before, len(fetched.files)) == (5, 5)
    assert data_of(fetched.files[0].path) == desk.picture(desk.detail(FIVE), 1)


async def test_a_page_that_did_not_move_for_a_day_is_begun_afresh(desk: Desk) -> None:
    row = await cut(desk)
    desk.age(24 * HOUR)
    await desk.fetch(desk.detail())
    assert desk.ranges() == [None, None]
    assert os.path.basename(row.part) not in desk.names


async def test_a_page_of_almost_a_day_ago_is_gone_on_with(desk: Desk) -> None:
    await cut(desk)
    desk.age(24 * HOUR - 1)
    await desk.fetch(desk.detail())
    assert desk.ranges() == [None, "bytes=30000-"]


async def test_a_part_that_another_process_writes_is_neither_continued_nor_removed(desk: Desk) -> None:
    row = await cut(desk)
    with written_by_another(row.part) as descriptor:
        (file,) = (await desk.fetch(desk.detail())).files
        assert os.fstat(descriptor).st_size == 30_000
    assert desk.ranges() == [None, None]
    assert data_of(file.path) == desk.picture(desk.detail())
    assert os.path.basename(row.part) in desk.names


def test_a_part_is_locked_while_it_is_written(tmp_path: Path) -> None:
    part = Part(tmp_path, "12", 1)
    part.begin()
    with part.path.open("rb") as others:
        with pytest.raises(BlockingIOError):
            fcntl.flock(others, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.leave()
        fcntl.flock(others, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_what_begins_afresh_never_overwrites_what_a_row_counts(tmp_path: Path) -> None:
    part = Part(tmp_path, "12", 1)
    part.write(part.begin(), [b"abc"])
    before = part.path
    part.restart()
    part.write(part.begin(), [b"xy"])
    assert part.path != before
    assert (part.path.read_bytes(), before.exists()) == (b"xy", False)
    part.drop()


async def test_a_cancelled_download_is_gone_on_with(desk: Desk) -> None:
    desk.enlarge(3 * MIB)
    desk.played.fault("stall", match={"kind": "img"}, count=1, after_bytes=2 * MIB + 5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(desk.fetch, desk.detail())
        while not any(path.stat().st_size == 2 * MIB for path in desk.base.rglob(".part-*")):
            await trio.lowlevel.checkpoint()
        await trio.testing.wait_all_tasks_blocked(0.05)
        nursery.cancel_scope.cancel()
    await desk.quiet()
    (row,) = desk.staging.rows.values()
    assert (row.bytes_done, desk.stray) == (2 * MIB, [])
    desk.fetcher = desk.again()
    (file,) = (await desk.fetch(desk.detail())).files
    assert desk.ranges() == [None, f"bytes={2 * MIB}-"]
    assert data_of(file.path) == desk.picture(desk.detail())


async def test_a_ledger_without_room_is_a_full_disk_and_leaves_no_part(desk: Desk) -> None:
    desk.enlarge(9 * MIB)
    desk.staging.full = True
    with pytest.raises(StorageFull):
        await desk.fetch(desk.detail())
    await desk.quiet()
    assert desk.names == []
    assert desk.asked == 1


async def test_a_disk_that_fills_up_meanwhile_takes_the_pages_along_that_were_all_there(desk: Desk) -> None:
    class FullAfterOne(FakeStaging):
        async def mark(self, work: BoundWork, page: StagedPage) -> bool:
            self.full = bool(self.told)
            return await super().mark(work, page)

    desk.staging = FullAfterOne()
    desk.fetcher = desk.again()
    with pytest.raises(StorageFull):
        await desk.fetch(desk.detail(FIVE))
    await desk.quiet()
    assert len(desk.staging.told) == 1
    assert (desk.names, desk.staging.rows) == ([], {})


async def test_a_busy_ledger_keeps_no_work_from_being_fetched(desk: Desk) -> None:
    desk.enlarge(9 * MIB)
    desk.staging.busy = True
    (file,) = (await desk.fetch(desk.detail())).files
    assert data_of(file.path) == desk.picture(desk.detail())


async def test_a_part_that_no_row_could_be_written_for_is_not_left(desk: Desk) -> None:
    desk.staging.busy = True
    desk.played.fault("reset", match={"kind": "img"}, count=1, after_bytes=30_000)
    with pytest.raises(Unavailable):
        await desk.fetch(desk.detail())
    await desk.quiet()
    assert desk.names == []


async def test_a_work_that_is_gone_for_good_takes_its_part_and_its_row_along(desk: Desk) -> None:
    await cut(desk)
    desk.played.fault("status", match={"kind": "img"}, code=404)
    with pytest.raises(Gone):
        await desk.fetch(desk.detail())
    assert (desk.names, desk.staging.rows) == ([], {})


async def test_a_smaller_rendering_is_continued_at_its_own_address_only(desk: Desk) -> None:
    desk.played.fault("status", match={"route": "/img-original/*"}, code=404, count=2)
    row = await cut(desk, after=5_000)
    assert (row.degraded, row.bytes_done) == (True, 5_000)
    (file,) = (await desk.fetch(desk.detail())).files
    assert desk.ranges() == [None, None, None, "bytes=5000-"]
    assert (file.degraded, file.size) == (True, 8_000)


async def test_an_original_that_came_back_is_not_appended_to_its_smaller_rendering(desk: Desk) -> None:
    desk.played.fault("status", match={"route": "/img-original/*"}, code=404, count=1)
    await cut(desk, after=5_000)
    (file,) = (await desk.fetch(desk.detail())).files
    assert desk.ranges() == [None, None, None]
    assert data_of(file.path) == desk.picture(desk.detail())
    assert not file.degraded


async def test_an_original_that_broke_is_not_continued_with_the_smaller_rendering(tmp_path: Path) -> None:
    desk = Desk(tmp_path, retries=0)
    desk.played.fault("status", match={"route": "/img-original/*"}, code=404, count=1)
    await cut(desk, after=5_000)
    desk.network = Network(retries=1, retry_delay_ms=1)
    desk.fetcher = desk.again()
    desk.played.fault("reset", match={"route": "/img-original/*"}, after_bytes=7_000, count=1)
    desk.played.fault("status", match={"route": "/img-original/*"}, code=404)
    (file,) = (await desk.fetch(desk.detail())).files
    assert desk.ranges() == [None, None, None, "bytes=7000-", None]
    url = desk.detail().pages[0].fallback_url
    assert url is not None
    assert data_of(file.path) == desk.played.ask.image(url).body


async def test_a_page_of_which_nothing_is_missing_is_looked_at_without_a_request(desk: Desk) -> None:
    work = desk.detail()
    (file,) = (await desk.fetch(work)).files
    ((key, row),) = desk.staging.rows.items()
    os.rename(file.path, row.part)
    desk.staging.rows[key] = msgspec.structs.replace(row, sha256=None, format=None)
    desk.fetcher, before = desk.again(), desk.asked
    assert (await desk.fetch(work)).files == (file,)
    assert desk.asked == before


async def test_a_page_that_is_to_lie_in_another_folder_is_begun_afresh(desk: Desk) -> None:
    row = await cut(desk)
    desk.storage = Storage(illustration_directory=desk.base, illustration_organization="byAuthor")
    desk.fetcher = desk.again()
    (file,) = (await desk.fetch(desk.detail(user_name="Kai"))).files
    assert desk.ranges() == [None, None]
    assert os.path.dirname(file.path) == f"{desk.base / 'Kai'}"
    assert os.path.basename(row.part) not in desk.names


async def test_a_page_that_has_its_name_by_now_leaves_no_part(desk: Desk) -> None:
    work = desk.detail()
    (file,) = (await desk.fetch(work)).files
    (row,) = desk.staging.rows.values()
    os.link(file.path, row.part)  # killed between the two halves of giving a name
    desk.fetcher, before = desk.again(), desk.asked
    await desk.fetch(work)
    assert (desk.asked, desk.parts, desk.staging.rows) == (before, [], {})


async def test_of_works_that_failed_only_the_last_ones_are_kept(desk: Desk) -> None:
    for number in range(ONE, ONE + 40):
        work = desk.detail(number)
        if len(work.pages) == 1:
            desk.played.fault("reset", match={"kind": "img"}, count=1, after_bytes=30_000)
            with pytest.raises(Unavailable):
                await desk.fetch(work)
    assert desk.stray == []
    assert len(desk.parts) == 17
