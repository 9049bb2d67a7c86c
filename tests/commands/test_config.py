"""`pixivflow config validate`: for people, for programs, and for a shell that only asks whether."""

import json
import socket
from pathlib import Path

import pytest

from tests.commands.calling import pixivflow, written


def test_a_valid_configuration_is_one_line_and_a_good_end(tmp_path: Path) -> None:
    path = written(tmp_path)
    ended = pixivflow("config", "validate", "--config", path, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, f"{path}: valid\n")


def test_every_fault_is_named_by_its_place_and_not_only_the_first(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        targets=[{"id": "kept", "type": "illustration", "tag": "x", "limit": -1}],
        schedules=[{"id": "nightly", "cron": "61 * * * *", "timezone": "UTC", "enabled": True, "targetIds": ["gone"]}],
    )
    ended = pixivflow("config", "validate", "--config", path, cwd=tmp_path)
    assert ended.returncode == 1
    for place in ("targets[0].limit", "schedules[0].cron", "schedules[0].targetIds"):
        assert place in ended.stderr
    assert ended.stdout == f"{path}: 3 errors\n"


def test_programs_get_one_document(tmp_path: Path) -> None:
    path = written(tmp_path, targets=[{"id": "kept", "type": "illustration", "tag": "x", "limit": -1}])
    ended = pixivflow("config", "validate", "--json", "--config", path, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (1, "")
    document = json.loads(ended.stdout)
    assert set(document) == {"path", "valid", "errors", "warnings"}
    assert (document["path"], document["valid"]) == (f"{path}", False)
    (fault,) = document["errors"]
    assert set(fault) == {"code", "field", "message"}
    assert fault["field"] == "targets[0].limit"


@pytest.mark.parametrize(
    "text", ["not json", "[" * 100_000, "", "\x00"], ids=["prose", "deep junk", "nothing", "a zero byte"]
)
@pytest.mark.parametrize("command", [("config", "validate"), ("scheduler",), ("status",)], ids=lambda words: words[0])
def test_what_is_not_a_configuration_is_named_by_its_file_and_no_traceback(
    tmp_path: Path, text: str, command: tuple[str, ...]
) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    ended = pixivflow(*command, "--config", path, cwd=tmp_path)
    assert ended.returncode == 1
    assert f"{path}" in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    ended = pixivflow("config", "validate", "--config", tmp_path / "none.json", cwd=tmp_path)
    assert ended.returncode == 1
    assert "none.json" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_status_without_a_ledger_says_so(tmp_path: Path) -> None:
    ended = pixivflow("status", "--config", written(tmp_path), cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "storage.databasePath" in ended.stderr
    assert not (tmp_path / "ledger.db").exists()  # who only looks makes nothing


def test_what_is_asked_for_in_vain_is_told_once_by_the_look_and_by_the_start_of_the_daemon(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        trigger = {"token": "t", "port": free.getsockname()[1]}
    leaving = {"mode": "external", "exitWhenIdle": True, "idleGraceMs": 0, "trigger": trigger}
    path = written(tmp_path, download={"ugoiraFormat": "zip"}, schedulerRuntime=leaving)
    looked = pixivflow("config", "validate", "--config", path, cwd=tmp_path)
    told = "download.ugoiraFormat: animations are not fetched by this version"
    assert looked.stderr.splitlines().count(f"warning: {told}") == 1
    lived = pixivflow("scheduler", "--config", path, cwd=tmp_path, environ={"PIXIV_LOG_FORMAT": "json"})
    lines = [json.loads(line) for line in lived.stderr.splitlines()]
    warned = [
        line for line in lines if line["message"] == "config.warning" and line["field"] == "download.ugoiraFormat"
    ]
    assert [(line["level"], line["text"]) for line in warned] == [("warn", told.partition(": ")[2])]
