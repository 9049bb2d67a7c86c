"""Noticing that a file is another than before, on a real file system."""

import json
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path

import pytest
import trio

from actors.kit import Mailbox
from actors.kit.testing import Probe, running
from pixivflow.config.load import load
from pixivflow.config.watch import Live, Look, Parts, config_watcher, reader
from pixivflow.config.watch.folder import changes, differences
from tests.edges.config.conftest import NOBODY
from tests.fixtures.documents import a_document, a_schedule

PATIENCE_S = 30
"""How long a loaded machine may take for what takes some seconds."""

watched = partial(changes, look_ms=1_000, step_ms=500)

Save = Callable[[Path, str], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text("0")
    return path


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def renamed(path: Path, text: str) -> None:
    """As editors save: a new file in the old one's place."""
    fresh = path.with_name(f".{path.name}.swp")
    fresh.write_text(text)
    fresh.replace(path)


def behind_a_link(path: Path, text: str) -> None:
    """As mounted configurations turn: the name is a link through a folder that is a link."""
    folder = path.parent / f"..{text}"
    folder.mkdir()
    (folder / path.name).write_text(text)
    link = path.parent / "..link"
    link.symlink_to(folder.name)
    link.replace(path.parent / "..data")
    if not path.is_symlink():
        path.unlink()
        path.symlink_to(f"..data/{path.name}")


def removed_and_made(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text)


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


async def saved_three_times(path: Path, save: Save) -> None:
    path.parent.mkdir()
    in_place(path, "0")
    async with aclosing(watched(path, stop := trio.Event())) as stirs:
        await anext(stirs)
        for text in ("1", "22", "333"):
            save(path, text)
            await anext(stirs)
            while read(path) != text:
                await anext(stirs)
        stop.set()


async def test_every_way_to_save_is_noticed_the_first_time_and_later(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            for save in (in_place, renamed, behind_a_link, removed_and_made):
                nursery.start_soon(saved_three_times, tmp_path / save.__name__ / "config.json", save)


async def test_whatever_else_stirs_in_the_folder_wakes_nobody(path: Path, tmp_path: Path) -> None:
    async def stirring() -> AsyncGenerator[None, None]:
        for number in range(5):
            in_place(tmp_path / "ledger.db-wal", str(number))
            yield
        in_place(path, "changed")
        yield

    async with aclosing(differences(path, stirring())) as stirs:
        assert [read(path) async for _ in stirs] == ["0", "changed"]


async def test_a_folder_that_is_not_there_is_an_error_and_not_silence(tmp_path: Path) -> None:
    async with aclosing(watched(tmp_path / "none/config.json", trio.Event())) as stirs:
        await anext(stirs)
        with pytest.raises(FileNotFoundError):
            await anext(stirs)


async def test_an_edited_file_is_in_force_and_a_broken_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(a_document()))
    live = Live(load(path, NOBODY).settings)
    probe, box = Probe(), Mailbox[Look](4)
    parts = Parts(path, live, reader(path, NOBODY), lambda settings: None, watched)
    with trio.fail_after(PATIENCE_S):
        async with running(partial(config_watcher, mailbox=box, parts=parts), probe.hooks()):
            renamed(path, json.dumps(a_document(schedules=[a_schedule()])))
            await probe.until("config.replaced")
            assert [plan.id for plan in live.current().schedules] == ["nightly"]
            in_place(path, '{"targets": [')
            await probe.until("config.rejected")
            assert live.current().generation == 2
            os.unlink(path)
            await probe.until("config.rejected", 2)
            assert live.current().generation == 2
