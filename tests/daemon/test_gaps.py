"""What is asked for in vain is said before the first run, and not found out by waiting."""

from pathlib import Path

import pytest

from pixivflow.config.mask import Secret
from pixivflow.config.model import Download, Pixiv, Settings, Target
from pixivflow.config.model.targets import TargetDelivery
from pixivflow.daemon.gaps import gaps
from pixivflow.ids import TargetId
from tests.daemon.house import living

TOKEN = Pixiv(refresh_token=Secret("a-token-that-could-be-one"))


def fields(settings: Settings) -> list[str]:
    return [each.field for each in gaps(settings)]


def a_target(**more: object) -> Target:
    return Target(id=TargetId("t"), type="illustration", **{"tag": "x", **more})  # type: ignore[arg-type]


def test_a_configuration_that_is_served_whole_has_no_gap() -> None:
    delivered = a_target(storage_mode="cache", delivery=TargetDelivery(targets=("channel",)))
    assert fields(Settings(pixiv=TOKEN, targets=(a_target(), delivered))) == []


def test_a_missing_token_is_named() -> None:
    assert fields(Settings(targets=(a_target(),))) == ["pixiv.refreshToken"]


def test_a_target_whose_works_would_never_be_delivered_is_named() -> None:
    silent = a_target(delivery=TargetDelivery(targets=("channel",)))
    assert fields(Settings(pixiv=TOKEN, targets=(a_target(), silent))) == ["targets[1].delivery"]


def test_a_key_by_which_nothing_is_decided_is_named_once_it_asks_for_something() -> None:
    asking = Settings(pixiv=TOKEN, targets=(a_target(),), download=Download(ugoira_format="apng", novel_epub="work"))
    assert fields(asking) == ["download.novelEpub", "download.ugoiraFormat"]


async def test_what_a_reload_asks_for_in_vain_is_told_when_it_comes_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with living(tmp_path, {}, monkeypatch) as house:
        house.reload({"operations": {"notificationUrl": "http://127.0.0.1/notes"}})
        assert "CONFIG_KEY_UNSERVED" in house.log_text.getvalue()
        assert "operations.notificationUrl" in house.log_text.getvalue()


@pytest.mark.parametrize(
    ("target", "field"),
    [
        (Target(id=TargetId("t"), type="novel", tag="x"), "targets[0].type"),
        (a_target(mode="follow"), "targets[0].mode"),
        (a_target(user_id="12"), "targets[0].userId"),
    ],
    ids=["novels", "what one follows", "works of a user"],
)
def test_a_target_of_a_kind_that_is_not_served_yet_is_named(target: Target, field: str) -> None:
    assert fields(Settings(pixiv=TOKEN, targets=(target,))) == [field]
