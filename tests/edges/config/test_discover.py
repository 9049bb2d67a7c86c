"""Which file is the configuration."""

from pathlib import Path

import pytest

from pixivflow.config.load import ConfigUnreadable, discover
from pixivflow.config.load.discover import NAME, VARIABLE
from tests.edges.config.conftest import NOBODY


def case(number: int) -> pytest.MarkDecorator:
    return pytest.mark.case("operate", number)


@case(4)
def test_the_flag_wins_over_the_variable(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).touch()
    environ = {VARIABLE: "b.json"}
    assert discover("a.json", environ, tmp_path, tmp_path) == tmp_path / "a.json"
    assert discover(None, environ, tmp_path, tmp_path) == tmp_path / "b.json"


def test_a_file_that_is_asked_for_and_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigUnreadable, match=r"missing\.json"):
        discover("missing.json", NOBODY, tmp_path, tmp_path)
    with pytest.raises(ConfigUnreadable, match=r"gone\.json"):
        discover(None, {VARIABLE: "gone.json"}, tmp_path, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_nearest_folder_is_found_and_its_marker_counts(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "root"
    (home / ".pixivflow/config").mkdir(parents=True)
    (home / ".pixivflow/config" / NAME).touch()
    (root / "below").mkdir(parents=True)
    assert discover(None, NOBODY, root / "below", home) == home / ".pixivflow/config" / NAME
    (root / "config").mkdir()
    (root / "config/other.toml").touch()
    assert discover(None, NOBODY, root / "below", home) == root / "config/other.toml"
    (root / "config" / NAME).touch()
    assert discover(None, NOBODY, root / "below", home) == root / "config" / NAME
    (root / "config/.current-config").write_text("other.toml\n")
    assert discover(None, NOBODY, root / "below", home) == root / "config/other.toml"
    (root / "config/.current-config").write_text("gone.json")
    assert discover(None, NOBODY, root / "below", home) == root / "config" / NAME


def test_a_folder_at_home_that_people_see_wins_over_the_hidden_one(tmp_path: Path) -> None:
    for name in ("pixivflow", ".pixivflow"):
        (tmp_path / name / "config").mkdir(parents=True)
        (tmp_path / name / "config" / NAME).touch()
    assert discover(None, NOBODY, Path("/"), tmp_path) == tmp_path / "pixivflow/config" / NAME


def test_where_nothing_is_found_everybody_is_told_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigUnreadable, match="no configuration was found") as caught:
        discover(None, NOBODY, tmp_path, tmp_path)
    assert str(tmp_path / ".pixivflow/config") in str(caught.value)


@pytest.mark.parametrize("asked", ["", " "])
def test_an_empty_name_is_no_reason_to_take_another_file(asked: str, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / NAME).touch()
    with pytest.raises(ConfigUnreadable, match="the name of the file is empty"):
        discover(asked, NOBODY, tmp_path, tmp_path)


def test_a_folder_is_told_from_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigUnreadable, match="this is a folder"):
        discover(f"{tmp_path}", NOBODY, tmp_path, tmp_path)


def test_a_name_that_the_system_refuses_is_told_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigUnreadable, match="cannot be looked at: File name too long"):
        discover("x" * 300, NOBODY, tmp_path, tmp_path)
    with pytest.raises(ConfigUnreadable, match="cannot be looked into: File name too long"):
        discover(None, NOBODY, tmp_path / ("x" * 300), tmp_path)
