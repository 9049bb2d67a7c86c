"""Where paths lead."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pixivflow.config.load import Loaded, load
from pixivflow.errors import ConfigError
from tests.edges.config.conftest import NOBODY, Write
from tests.fixtures.documents import Document, a_document


def test_relative_paths_start_beside_the_file_and_above_a_folder_called_config(write: Write, tmp_path: Path) -> None:
    document = a_document(storage={"databasePath": "./x.db", "downloadDirectory": "files"})
    assert load(write(document), NOBODY).settings.storage.database_path == tmp_path / "x.db"
    elsewhere = load(write(document, "etc/c.json"), NOBODY).settings.storage
    assert elsewhere.database_path == tmp_path / "etc/x.db"
    assert elsewhere.novel_directory == tmp_path / "etc/files/novels"


def test_a_relative_path_to_the_file_itself_leads_to_the_same_place(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(a_document())
    monkeypatch.chdir(tmp_path / "config")
    assert load(Path("c.json"), NOBODY).settings.storage.database_path == tmp_path / "data/pixiv-downloader.db"


@pytest.mark.parametrize(
    ("storage", "field", "expected", "warned"),
    [
        ({"illustrationDirectory": "./downloads/pics"}, "illustration_directory", "downloads/pics", False),
        ({"illustrationDirectory": "pics"}, "illustration_directory", "downloads/pics", False),
        ({"downloadDirectory": "downloads/downloads"}, "download_directory", "downloads", True),
        ({"databasePath": "data/data/x.db"}, "database_path", "data/x.db", True),
        ({"databasePath": "my/my/x.db"}, "database_path", "my/my/x.db", False),
        ({"novelDirectory": "/somewhere/texts"}, "novel_directory", "downloads/texts", True),
    ],
)
def test_paths_are_mended_only_where_they_lead_nowhere(
    loaded: Callable[..., Loaded], tmp_path: Path, storage: Document, field: str, expected: str, warned: bool
) -> None:
    result = loaded(storage=storage)
    assert getattr(result.settings.storage, field) == tmp_path / expected
    assert [each.code for each in result.warnings] == ["CONFIG_VALIDATION_PATH_REPAIRED"] * warned


@pytest.mark.parametrize("key", ["databasePath", "downloadDirectory"])
def test_an_absolute_path_that_cannot_be_made_is_refused_and_not_replaced(
    loaded: Callable[..., Loaded], key: str
) -> None:
    """An empty ledger in another place has forgotten everything, and would publish it again."""
    with pytest.raises(ConfigError) as refused:
        loaded(storage={key: "/etc/passwd/below"})
    assert f"storage.{key}: is not there and cannot be made" in str(refused.value)


def test_an_absolute_path_that_can_be_made_is_never_rewritten(loaded: Callable[..., Loaded], tmp_path: Path) -> None:
    far = tmp_path / "other/volume"
    result = loaded(storage={"databasePath": f"{far}/x.db", "downloadDirectory": f"{far}/d"})
    assert result.settings.storage.database_path == far / "x.db"
    assert result.settings.storage.novel_directory == far / "d/novels"
    assert result.warnings == ()
    assert not far.exists()


def test_paths_of_the_environment_are_paths_like_others(loaded: Callable[..., Loaded], tmp_path: Path) -> None:
    environ = {"PIXIV_DATABASE_PATH": "x.db", "PIXIV_DOWNLOAD_DIR": f"{tmp_path}/d", "PIXIV_NOVEL_DIR": "texts"}
    storage = loaded(environ, storage={"databasePath": "y.db"}).settings.storage
    assert (storage.database_path, storage.novel_directory) == (tmp_path / "x.db", tmp_path / "d/texts")
