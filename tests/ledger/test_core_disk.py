"""A disk that is really full: a small tmpfs where this process may mount one, as in CI, and a page limit everywhere."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pixivflow.errors import StorageFull
from pixivflow.ledger.connection import Db
from pixivflow.ledger.ledger import Ledger
from tests import mounting
from tests.fixtures.ledgers import kept, put
from tests.mounting import may_mount

ROOT = Path(__file__).parents[2]

MOUNTED = 'mount -t tmpfs -o size=2m none "$1" && exec "$2" -m tests.ledger.filling "$1"'


if may_mount():

    def test_on_a_full_file_system_nothing_that_was_told_is_lost_and_work_goes_on_with_room(tmp_path: Path) -> None:
        command = ["unshare", "--mount", "sh", "-c", MOUNTED, "sh", str(tmp_path), sys.executable]
        ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60)

        said = json.loads(ran.stdout)
        assert said["told"] > 0
        assert said["full"] == 8, "each task was told StorageFull"
        assert (said["lost"], said["half_kept"]) == (0, 0)
        assert (said["paused"], said["paused_after"], said["after"]) == (True, False, True)


def test_the_report_says_where_a_full_disk_could_not_be_made() -> None:
    said = list[str]()
    reporter = SimpleNamespace(write_line=lambda line, **_: said.append(line))
    with pytest.MonkeyPatch.context() as patch:
        for may in (True, False):
            patch.setattr(mounting, "may_mount", lambda may=may: may)
            mounting.pytest_terminal_summary(cast("pytest.TerminalReporter", reporter))
            assert mounting.pytest_report_header(cast("pytest.Config", None)) == mounting.word(may)
    assert said == [mounting.word(may=False)]
    assert "may not mount one" in said[0]


async def test_a_ledger_that_may_not_grow_refuses_what_is_too_large_and_nothing_else(ledger: Ledger) -> None:
    def limit(db: Db) -> None:
        """As a quota would; a real function could not."""
        db.guard.shut = False
        [(pages,)] = db.steer("PRAGMA page_count")
        db.steer(f"PRAGMA max_page_count = {pages + 8}")
        db.guard.shut = True

    await ledger.write(limit)
    with pytest.raises(StorageFull):
        await ledger.write(put, "x" * 200_000)
    await ledger.write(put, "small")
    assert await ledger.read(kept) == ["small"]
