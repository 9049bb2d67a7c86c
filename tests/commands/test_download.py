"""`pixivflow download --url` against a Pixiv of its own."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.commands.calling import clean, pixivflow, written

WORK = 110771
GONE = 999_999_999


@pytest.fixture
def pixiv(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a sandbox, a process of its own. Fresh: a login spends its token, and the ledger keeps the next."""
    home = tmp_path_factory.mktemp("sandbox")
    command = [sys.executable, "-m", "pixivflow", "sandbox"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=home, env=clean(home), text=True) as child:
        assert child.stdout is not None
        said, _, port = child.stdout.readline().partition(" ")
        assert said == "READY"
        yield int(port)
        child.terminate()


def test_a_work_is_brought_home_whole_and_named_on_standard_output(pixiv: int, tmp_path: Path) -> None:
    address = f"https://www.pixiv.net/en/artworks/{WORK}"
    ended = pixivflow("download", "--url", address, "--config", written(tmp_path, pixiv), "--json", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["illustId"] == WORK
    (file,) = document["files"]
    content = Path(file["path"]).read_bytes()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
    with Image.open(file["path"]) as picture:
        picture.load()


def test_the_second_time_the_file_that_is_there_is_named_and_no_other_is_made(pixiv: int, tmp_path: Path) -> None:
    first = pixivflow("download", "--url", WORK, "--config", written(tmp_path, pixiv), cwd=tmp_path)
    again = pixivflow("download", "--url", WORK, "--config", written(tmp_path, pixiv), cwd=tmp_path)
    assert (first.returncode, again.returncode) == (0, 0)
    assert first.stdout == again.stdout
    assert [f"{path}\n" for path in (tmp_path / "files").rglob("*") if path.is_file()] == [first.stdout]


def test_a_work_that_was_deleted_is_told_and_nothing_is_left(pixiv: int, tmp_path: Path) -> None:
    ended = pixivflow("download", "--url", GONE, "--config", written(tmp_path, pixiv), "--json", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    refusal = json.loads(ended.stderr.splitlines()[-1])
    assert refusal == {"success": False, "error": f"{GONE}: nothing new: work {GONE} no longer exists"}
    assert not [path for path in (tmp_path / "files").rglob("*") if path.is_file()]


@pytest.mark.parametrize("address", ["https://evilpixiv.net/artworks/1", "https://www.pixiv.net/ranking.php", ""])
def test_an_address_that_names_no_illustration_is_refused_before_anything_is_made(address: str, tmp_path: Path) -> None:
    ended = pixivflow("download", "--url", address, "--config", written(tmp_path), cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    (line,) = ended.stderr.splitlines()
    assert "unsupported_url" in line
    assert repr(address) in line
    assert not (tmp_path / "ledger.db").exists()


def test_a_pixiv_that_cannot_be_reached_is_told_in_the_last_line(tmp_path: Path) -> None:
    ended = pixivflow("download", "--url", WORK, "--config", written(tmp_path), cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no answer from Pixiv (127.0.0.1:9)" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
