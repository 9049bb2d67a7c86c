"""Names that anybody's titles become: one component each, distinct, and inside their folder."""

import unicodedata
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixivflow.config.model import Target
from pixivflow.config.model.files import Organization
from pixivflow.download import naming
from pixivflow.ids import WorkId
from pixivflow.selection.model import WorkDetail, WorkKind

NOW = 1_772_290_800_000
"""00:00 of 1 March 2026 in Japan, still February in Greenwich."""
MADE = 1_767_193_200_000
"""00:00 of 1 January 2026 in Japan."""


def a_work(title: str = "sea", **fields: object) -> WorkDetail:
    known = {"id": WorkId("12"), "kind": WorkKind.ILLUSTRATION, "title": title, "user_name": "Kai", "created_at": MADE}
    return WorkDetail(**(known | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        pytest.param("../../etc/passwd", "12_.._.._etc_passwd_1.jpg", marks=pytest.mark.case("download", 86)),
        pytest.param("..\\..\\x", "12_.._.._x_1.jpg", id="a path of another system"),
        pytest.param("a\0b\u202ec\u200bd\x1be", "12_abcde_1.jpg", marks=pytest.mark.case("download", 90)),
        pytest.param("a\n\t b", "12_a b_1.jpg", id="white space"),
        pytest.param('a:b*c?d"e<f>g|h', "12_a_b_c_d_e_f_g_h_1.jpg", id="what some systems refuse"),
        pytest.param("", "12_untitled_1.jpg", marks=pytest.mark.case("download", 91)),
        pytest.param(" . . ", "12_untitled_1.jpg", id="dots and blanks alone"),
        pytest.param("cafe\u0301", "12_caf\u00e9_1.jpg", id="one spelling"),
        pytest.param("a\ud800b", "12_a_b_1.jpg", id="half a character"),
    ],
)
def test_a_title_becomes_part_of_one_name(title: str, name: str) -> None:
    assert naming.page_name(a_work(title), 1, ".jpg") == name


@pytest.mark.case("download", 88)
def test_a_long_title_leaves_twelve_pages_twelve_names() -> None:
    names = [naming.page_name(a_work("海" * 300), page, ".jpg") for page in range(1, 13)]
    assert len(set(names)) == 12
    assert all(len(name.encode()) <= 230 for name in names)
    assert [name.rpartition("_")[2] for name in names] == [f"{page}.jpg" for page in range(1, 13)]


@pytest.mark.case("download", 89)
def test_a_title_of_emoji_is_cut_between_characters() -> None:
    name = naming.page_name(a_work("👨‍👩‍👧‍👦🇯🇵" * 60), 3, ".png")
    assert name.startswith("12_👨")
    assert name.endswith("_3.png")
    assert len(name.encode()) <= 230
    assert "\ufffd" not in name


@given(title=st.text(max_size=300), page=st.integers(1, 9_999))
def test_any_title_stays_one_component_of_a_bounded_name(title: str, page: int) -> None:
    name = naming.page_name(a_work(title), page, ".jpeg")
    assert PurePosixPath(name).name == name
    assert len(name.encode()) <= 230
    assert name.startswith("12_")
    assert name.endswith(f"_{page}.jpeg")
    assert not any(unicodedata.category(each) in ("Cc", "Cs") for each in name)
    assert "\\" not in name


@pytest.mark.case("download", 87)
@pytest.mark.parametrize(
    ("author", "folder"),
    [("CON", "CON_"), ("con", "con_"), ("..", "unknown"), ("", "unknown"), ("....", "unknown"), ("a/b", "a_b")],
)
def test_an_author_without_a_usable_name_has_a_folder(author: str, folder: str) -> None:
    assert naming.folder_part(author) == folder


@given(author=st.text(max_size=200))
def test_any_author_is_one_folder_below_the_base(author: str) -> None:
    part = naming.folder_part(author)
    base = Path("/base")
    assert (base / part).parent == base
    assert part not in ("", ".", "..")
    assert len(part.encode()) <= 81


FOLDERS: list[tuple[Organization, str]] = [
    ("flat", "."),
    ("byAuthor", "Kai"),
    ("byTag", "sea"),
    ("byAuthorAndTag", "Kai/sea"),
    ("byDate", "2026-01/illustrations"),
    ("byDay", "2026-01-01/illustrations"),
    ("byDownloadDate", "2026-03/illustrations"),
    ("byDownloadDay", "2026-03-01/illustrations"),
    ("byDateAndAuthor", "2026-01/illustrations/Kai"),
    ("byDayAndAuthor", "2026-01-01/illustrations/Kai"),
    ("byDownloadDateAndAuthor", "2026-03/illustrations/Kai"),
    ("byDownloadDayAndAuthor", "2026-03-01/illustrations/Kai"),
]


@pytest.mark.case("download", 97)
@pytest.mark.parametrize(("organization", "expected"), FOLDERS)
def test_each_way_to_sort_files_has_its_folders(organization: Organization, expected: str) -> None:
    parts = naming.folder("files", organization, a_work(), "sea", NOW)
    assert str(PurePosixPath(*parts)) == expected
    for base in ("illustrations", "My-Novels"):
        named = naming.folder(base, organization, a_work(), "sea", NOW)
        assert named == tuple(part for part in parts if part != "illustrations")


def test_what_is_not_known_has_a_folder_all_the_same() -> None:
    assert naming.folder("x", "byAuthorAndTag", a_work(user_name=""), "", NOW) == ("unknown", "untagged")
    assert naming.folder("x", "byDay", a_work(created_at=None), "", NOW)[0] == "2026-03-01"


@pytest.mark.parametrize(
    ("url", "extension"),
    [("https://h/a/1_p0.PNG", ".png"), ("https://h/1_p0.jpg?x=.gif", ".jpg"), ("https://h/1.php", ".jpg")],
)
def test_an_extension_is_one_that_pictures_have(url: str, extension: str) -> None:
    assert naming.extension_of(url) == extension


def test_a_pinned_target_is_called_after_its_work() -> None:
    assert naming.label(Target(type="illustration", illust_id=5)) == "illust-5"
    assert naming.label(Target(type="illustration", tag="sea", illust_id=5)) == "sea"
