"""The demo, played once, as somebody sees it who has just installed the program."""

import hashlib
import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.commands.calling import PATIENCE_S, called, pixivflow
from tests.crash.waiting import until


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def folder(home: Path) -> Path:
    return home / "a new" / "folder"


@pytest.fixture(scope="module")
def played(home: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """One round, with the settings of somebody's own daemon around it."""
    own = {"PIXIV_DOWNLOAD_DIR": f"{home / 'own'}", "SCHEDULER_TRIGGER_TOKEN": "their-own-token-of-the-daemon"}
    return pixivflow("demo", "--json", "--dir", folder, cwd=home, environ=own)


@pytest.fixture(scope="module")
def told(played: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(played.stdout)  # nothing else stands there, or this fails
    return document


def test_it_ends_well_and_says_nothing_beside_its_document(played: subprocess.CompletedProcess[str]) -> None:
    assert (played.returncode, played.stderr) == (0, "")
    assert played.stdout.startswith("{\n")


def test_the_document_has_exactly_the_promised_shape(told: dict[str, Any], folder: Path) -> None:
    assert set(told) == {"slots", "files", "deliveries", "exitReason", "durationMs", "directory", "ledger"}
    (slot,) = told["slots"]
    assert set(slot) == {"slotId", "status", "businessStatus", "cells"}
    assert (slot["status"], slot["businessStatus"]) == ("success", "success")
    assert slot["slotId"].startswith("demo@")
    assert told["exitReason"] == "idle"
    assert isinstance(told["durationMs"], int)
    assert (told["directory"], told["ledger"]) == (f"{folder}", f"{folder / 'ledger.db'}")


def test_one_target_keeps_five_works_and_one_delivers_the_top_of_the_ranking(told: dict[str, Any]) -> None:
    (work,) = {each["workId"] for each in told["deliveries"]}
    assert told["slots"][0]["cells"] == [
        {"targetId": "landscapes", "status": "submitted", "workId": None},
        {"targetId": "top", "status": "submitted", "workId": work},
    ]
    assert len(told["files"]) == 6


def test_each_route_got_the_work_exactly_once(told: dict[str, Any]) -> None:
    assert all(set(each) == {"route", "workId", "status", "receipts"} for each in told["deliveries"])
    found = sorted((each["route"], each["status"], each["receipts"]) for each in told["deliveries"])
    assert found == [("archive", "delivered", 1), ("channel", "delivered", 1)]


def test_every_file_is_a_picture_of_the_told_size_and_digest(told: dict[str, Any], folder: Path) -> None:
    for each in told["files"]:
        path = Path(each["path"])
        content = path.read_bytes()
        assert path.is_relative_to(folder)
        assert (len(content), hashlib.sha256(content).hexdigest()) == (each["bytes"], each["sha256"])
        with Image.open(path) as picture:
            picture.load()
            assert min(picture.size) > 0


def test_no_piece_of_a_file_is_left_and_nothing_of_the_users_own_is_touched(
    told: dict[str, Any], folder: Path, home: Path
) -> None:
    there = {f"{path}" for path in (folder / "files").rglob("*") if path.is_file()}
    assert there == {each["path"] for each in told["files"]}
    assert [path.name for path in home.iterdir()] == [folder.parent.name]


def test_the_secrets_of_the_round_do_not_stand_in_its_log(told: dict[str, Any], folder: Path) -> None:
    settings = json.loads((folder / "config.json").read_text("utf-8"))
    log = (folder / "daemon.log").read_text("utf-8")
    assert "daemon.left" in log
    assert settings["schedulerRuntime"]["trigger"]["token"] not in log
    assert settings["delivery"]["targets"]["channel"]["signingSecret"] not in log


def test_a_second_round_in_the_same_folder_is_refused_and_spoils_nothing(told: dict[str, Any], folder: Path) -> None:
    before = (folder / "ledger.db").read_bytes()
    again = pixivflow("demo", "--dir", folder, cwd=folder)
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == f"❌ --dir: '{folder}': it is not empty; name a new or an empty folder\n"
    assert (folder / "ledger.db").read_bytes() == before


def test_a_configuration_of_the_users_own_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("my own")
    ended = pixivflow("demo", "--dir", tmp_path, cwd=tmp_path)
    assert ended.returncode == 1
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("config.json", "my own")]


@pytest.mark.parametrize("moment", ["daemon.starting", "idle.armed"])
def test_ctrl_c_breaks_a_round_off_and_says_so(tmp_path: Path, moment: str) -> None:
    for attempt in range(9):  # a round that was over before the signal came says nothing
        code, said = broken_off(tmp_path / f"{attempt}", moment)
        if code != 0:
            break
    assert said.splitlines()[-1] == "❌ interrupted"
    assert code in {130, -signal.SIGINT}  # the same to a shell; Python insists, met inside of some imports


def broken_off(folder: Path, moment: str) -> tuple[int, str]:
    """The exit code and standard error of a demo that gets Ctrl-C once its log tells of the moment."""
    log = folder / "daemon.log"
    with called("demo", "--dir", folder, cwd=folder.parent) as child:
        until(f"{moment} in the log", lambda: log.exists() and moment in log.read_text("utf-8"))
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=PATIENCE_S)
    return child.returncode, said


def test_status_tells_the_round_again_from_the_ledger(told: dict[str, Any], folder: Path) -> None:
    config = folder / "config.json"
    asked = pixivflow("status", "--json", "--config", config, cwd=folder)
    assert asked.returncode == 0, asked.stderr
    document = json.loads(asked.stdout)
    assert document["ledger"] == told["ledger"]
    assert (document["openSlots"], document["owedRows"]) == (0, 0)
    assert [slot["id"] for slot in document["slots"]] == [told["slots"][0]["slotId"]]
    lines = pixivflow("status", "--config", config, cwd=folder).stdout.splitlines()
    assert lines[0] == f"ledger {told['ledger']}: 0 slots and 0 deliveries are owed"
    assert f"slot {told['slots'][0]['slotId']}: success" in lines


def test_a_folder_that_cannot_be_made_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    ended = pixivflow("demo", "--dir", tmp_path / "a file" / "below", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith("❌ --dir: ")
    assert "a file" in line


def test_people_are_told_in_lines_and_where_everything_is(tmp_path: Path) -> None:
    ended = pixivflow("demo", "--dir", tmp_path / "demo", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert sum(line.startswith("file ") for line in lines) == 6
    assert sum(line.startswith("delivery of ") and line.endswith(", arrived 1x") for line in lines) == 2
    assert lines[-1].startswith(f"everything is in {tmp_path / 'demo'};")
