"""Error families: whoever catches one knows what to do next, and whoever reads one knows what to change."""

from pathlib import Path

import pytest

from pixivflow import errors
from pixivflow.errors import (
    AuthNeeded,
    ConfigError,
    Conflict,
    Gone,
    ItemError,
    LedgerLost,
    LedgerRefused,
    Outage,
    PixivflowError,
    Rejected,
    StorageFailed,
    StorageFull,
    Unavailable,
)

ONE_OF_EACH: tuple[PixivflowError, ...] = (
    ConfigError("delivery.outboxRetryMaxMs", 5, "must not be below outboxRetryBaseMs"),
    Unavailable("the writer is busy", retry_after_s=5),
    StorageFull("the disk is full"),
    LedgerLost("the writer has ended"),
    LedgerRefused(Path("some.db"), "use pixivflow import"),
    AuthNeeded("default"),
    Gone("71", "pixiv", "deleted by its author"),
    Rejected("71", "telegram", "the photo is too large"),
    Conflict("processing", None),
    Outage("pixiv answers 503"),
    StorageFailed("no right to write"),
)


def test_every_family_stands_in_this_file() -> None:
    families = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, PixivflowError)}
    assert families == {type(each) for each in ONE_OF_EACH} | {PixivflowError, ItemError}


def test_a_full_disk_is_something_to_try_again_later() -> None:
    assert issubclass(StorageFull, StorageFailed)
    assert issubclass(StorageFailed, Unavailable)


@pytest.mark.parametrize("family", [Gone, Rejected])
def test_an_item_that_is_never_retried_is_caught_as_one_item(family: type[ItemError]) -> None:
    assert issubclass(family, ItemError)
    assert not issubclass(family, Unavailable)


def test_no_two_families_that_ask_for_different_acts_catch_each_other() -> None:
    apart = (ConfigError, Unavailable, LedgerLost, LedgerRefused, AuthNeeded, ItemError, Conflict)
    for one in apart:
        assert [other for other in apart if issubclass(one, other)] == [one]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        pytest.param(ONE_OF_EACH[0], ["delivery.outboxRetryMaxMs", "5", "must not be below"], id="key, value and hint"),
        pytest.param(ONE_OF_EACH[4], ["some.db", "pixivflow import"], id="file and way out"),
        pytest.param(ONE_OF_EACH[5], ["default", "pixiv.refreshToken"], id="account and setting"),
        pytest.param(ONE_OF_EACH[6], ["71", "pixiv", "deleted by its author"], id="item, source and hint"),
        pytest.param(ONE_OF_EACH[8], ["processing", "no row"], id="expected and found"),
    ],
)
def test_the_message_tells_a_person_all_it_carries(error: PixivflowError, words: list[str]) -> None:
    assert [word for word in words if word not in str(error)] == []


def test_a_wait_that_nobody_named_is_none_and_not_zero() -> None:
    assert Unavailable("away").retry_after_s is None
    assert Unavailable("away", 0.0).retry_after_s == 0.0
