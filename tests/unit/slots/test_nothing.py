"""What a person reads when a search brought nothing."""

import pytest

from pixivflow.ids import WorkId
from pixivflow.slots.nothing import nothing_new
from pixivflow.slots.ports import Skip, SkipCode


def skips(**counts: int) -> list[Skip]:
    """So many works passed over for each code, the filtered ones for two reasons in turn."""
    return [
        Skip(code=SkipCode(code), work_id=WorkId(f"{at + 1}"), reason=("too few bookmarks", "outside the days")[at % 2])
        for code, count in counts.items()
        for at in range(count)
    ]


@pytest.mark.parametrize(
    ("read", "passed", "sentence"),
    [
        (0, skips(), "no work was found"),
        (1, skips(deleted=1), "work 1 no longer exists"),
        (1, skips(filtered=1), "work 1 was filtered out (too few bookmarks)"),
        (0, skips(access_denied=1), "work 1 is not shown to this account"),
        (
            12,
            skips(duplicate=9, filtered=2, deleted=1),
            "of 12 works read 9 were known, 2 were filtered out (too few bookmarks, outside the days),"
            " 1 no longer exists",
        ),
        (2, skips(duplicate=1, deleted=1), "of 2 works read 1 was known, 1 no longer exists"),
        (30, skips(deleted=5), "of 30 works read 5 no longer exist, 25 were not tried"),
        (2, skips(unavailable=1), "of 2 works read 1 could not be had now, 1 was not tried"),
        (1, skips(duplicate=1, invalid_metadata=1), "of 2 works read 1 was known, 1 is not whole on Pixiv"),
        (1, skips(), "of 1 work read 1 was not tried"),
    ],
)
def test_a_search_that_brought_nothing_says_what_it_found_and_why_none_of_it_came(
    read: int, passed: list[Skip], sentence: str
) -> None:
    assert nothing_new(read, passed) == f"nothing new: {sentence}"


def test_every_way_to_be_passed_over_has_words_of_its_own() -> None:
    told = {nothing_new(1, skips(**{code.value: 1})) for code in SkipCode}
    assert len(told) == len(SkipCode)
    assert all(each.startswith("nothing new: work 1 ") for each in told)


def test_not_every_reason_of_a_filter_is_listed() -> None:
    many = [Skip(code=SkipCode.FILTERED, work_id=WorkId(f"{at}"), reason=f"reason {at}") for at in range(9)]
    assert nothing_new(9, many) == "nothing new: of 9 works read 9 were filtered out (reason 0, reason 1, reason 2)"
