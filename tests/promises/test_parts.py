"""The checker of files compares what lies in the folder with what the rows say of it."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.promises import parts
from tests.promises.evidence import Evidence
from tests.promises.ledgers import AT, with_changes
from tests.promises.transcripts import a_life

HASH = hashlib.sha256(b"whole").hexdigest()


def life(folder: Path, *, part: bytes | None, row: str = "", file: bytes | None = None) -> Evidence:
    """A folder with a part and a file in it, of the lengths given, and the rows."""
    (files := folder / "files" / "Kai").mkdir(parents=True)
    for name, content in ((".part-12-1-0123456789ab", part), ("12_sea_2.jpg", file)):
        if content is not None:
            (files / name).write_bytes(content)
    changes = [each.format(files=files, hash=HASH, at=AT) for each in row.split(";") if each]
    return a_life(with_changes(folder / "l.db", *changes), files=folder / "files")


INSERT = "INSERT INTO download_files (pixiv_id, type, page, {}, updated_at, state) VALUES ('12', 'illustration', {})"
PART = "part_path, bytes_done, sha256"
BEGUN = INSERT.replace("{}", PART, 1).replace("{}", "1, '{files}/.part-12-1-0123456789ab', 5, NULL, {at}, 'staged'")
WHOLE = BEGUN.replace("NULL", "'{hash}'")
FINAL = INSERT.replace("{}", "file_path, size, sha256", 1).replace(
    "{}", "2, '{files}/12_sea_2.jpg', 5, '{hash}', {at}, 'final'"
)


@pytest.mark.parametrize(
    "life_in",
    [
        pytest.param(lambda folder: life(folder, part=None), id="nothing"),
        pytest.param(lambda folder: life(folder, part=b"whole", row=BEGUN), id="as much as is counted"),
        pytest.param(lambda folder: life(folder, part=b"whole, and more", row=BEGUN), id="more than is counted"),
        pytest.param(lambda folder: life(folder, part=None, row=WHOLE), id="a row whose part has its name by now"),
        pytest.param(lambda folder: life(folder, part=b"whole", row=WHOLE), id="a whole page"),
        pytest.param(lambda folder: life(folder, part=None, row=FINAL, file=b"whole"), id="a named file"),
        pytest.param(lambda folder: life(folder, part=None, row=FINAL), id="a file that was cleared away"),
    ],
)
def test_what_rows_tell_rightly_is_kept(life_in: Callable[[Path], Evidence], tmp_path: Path) -> None:
    assert parts.judge(life_in(tmp_path)) == []


@pytest.mark.parametrize(
    ("life_in", "fault"),
    [
        pytest.param(
            lambda folder: life(folder, part=b"whole"),
            ".part-12-1-0123456789ab is named by no row",
            id="an orphan",
        ),
        pytest.param(
            lambda folder: life(folder, part=b"whol", row=BEGUN),
            "page 1 of 12 counts 5 bytes of a part of 4",
            id="less than is counted",
        ),
        pytest.param(
            lambda folder: life(folder, part=b"other", row=WHOLE),
            "page 1 of 12 is not what its row says",
            id="another page",
        ),
        pytest.param(
            lambda folder: life(folder, part=None, row=FINAL, file=b"torn"),
            "page 2 of 12 is not what its row says",
            id="a torn file under a final name",
        ),
    ],
)
def test_what_rows_tell_wrongly_is_named(life_in: Callable[[Path], Evidence], fault: str, tmp_path: Path) -> None:
    assert parts.judge(life_in(tmp_path)) == [fault]


def test_right_after_a_kill_only_what_is_counted_is_judged(tmp_path: Path) -> None:
    assert parts.counted(life(tmp_path, part=b"whole")) == []
