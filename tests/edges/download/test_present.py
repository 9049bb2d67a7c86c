"""Files that are there already: used when they are what they should be, left alone when they are somebody else's."""

from pathlib import Path

import pytest

from pixivflow.errors import Unavailable
from tests.edges.download.stage import FIVE, ONE, Desk, data_of, harm


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_recorded_files_that_are_whole_need_no_request(desk: Desk) -> None:
    work = desk.detail(FIVE)
    first = await desk.fetch(work)
    before = desk.asked
    renamed = desk.detail(FIVE, title="called something else by now")
    assert await desk.fetch(renamed, known=first.files) == first
    assert desk.asked == before
    assert len(desk.names) == 5


@pytest.mark.parametrize("how", ["gone", "cut", "changed"])
async def test_a_recorded_file_that_is_not_what_was_recorded_is_fetched_again(how: str, desk: Desk) -> None:
    work = desk.detail(FIVE, title="first")
    first = await desk.fetch(work)
    harm(first.files[2].path, how)
    before = desk.asked
    second = await desk.fetch(work, known=first.files)
    assert desk.asked - before == 1
    assert [file.sha256 for file in second.files] == [file.sha256 for file in first.files]
    assert (first.files[2].path == second.files[2].path) == (how == "gone")


async def test_files_under_their_names_are_used_when_nothing_is_recorded(desk: Desk) -> None:
    work = desk.detail(FIVE)
    first = await desk.fetch(work)
    before = desk.asked
    desk.fetcher = desk.again()
    assert await desk.fetch(work) == first
    assert desk.asked == before


async def test_only_what_is_missing_is_asked_for(desk: Desk) -> None:
    work = desk.detail(FIVE)
    first = await desk.fetch(work)
    for file in first.files[1:]:
        harm(file.path, "gone")
    before = desk.asked
    desk.fetcher = desk.again()
    assert await desk.fetch(work) == first
    assert desk.asked - before == 4


@pytest.mark.case("download", 93)
@pytest.mark.case("download", 96)
@pytest.mark.parametrize("name", ["1000012_work 100001_1.jpg", "100001_work 100001_1.jpg.preview.jpg"])
async def test_other_files_of_the_folder_are_no_pages(name: str, desk: Desk) -> None:
    picture = data_of((await desk.fetch(desk.detail(FIVE))).files[0].path)
    (desk.base / name).write_bytes(picture)
    before = desk.asked
    work = desk.detail(ONE)
    (file,) = (await desk.fetch(work)).files
    assert desk.asked - before == 1
    assert Path(file.path).name != name
    assert (desk.base / name).read_bytes() == picture


@pytest.mark.case("download", 92)
async def test_a_name_that_another_file_has_is_not_taken_from_it(desk: Desk) -> None:
    work = desk.detail(title="sea")
    desk.base.mkdir(parents=True)
    for name in (f"{ONE}_sea_1.jpg", f"{ONE}_sea_1.png", f"{ONE}_sea_1.gif"):
        (desk.base / name).write_bytes(b"somebody's notes")
    (file,) = (await desk.fetch(work)).files
    assert Path(file.path).stem == f"{ONE}_sea_1_1"
    assert (desk.base / f"{ONE}_sea_1.jpg").read_bytes() == b"somebody's notes"


async def test_a_link_under_a_name_is_neither_used_nor_followed(desk: Desk, tmp_path: Path) -> None:
    work = desk.detail(title="sea")
    outside = tmp_path / "outside"
    outside.write_bytes(b"secret")
    desk.base.mkdir(parents=True)
    for ending in ("jpg", "png", "gif"):
        (desk.base / f"{ONE}_sea_1.{ending}").symlink_to(outside)
    await desk.fetch(work)
    assert outside.read_bytes() == b"secret"


async def test_a_folder_that_leads_out_of_the_base_is_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path, illustration_organization="byAuthor")
    desk.base.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (desk.base / "Kai").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable):
        await desk.fetch(desk.detail(user_name="Kai"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_a_work_is_filed_in_the_folder_that_the_settings_name(tmp_path: Path) -> None:
    desk = Desk(tmp_path, illustration_organization="byAuthorAndTag")
    (file,) = (await desk.fetch(desk.detail(user_name="../Kai"))).files
    assert Path(file.path).parent == desk.base / "Kai" / "sea"
