"""The slot that stands for an occurrence."""

import pytest

from pixivflow.ids import ScheduleId, SlotId
from pixivflow.scheduling.occurrence import Occurrence
from pixivflow.slots.opening import slot_for
from tests.fixtures.slots import NOW, A, B, a_slot

OCCURRENCE = Occurrence(
    slot_id=SlotId("p@2026-09-08T1000"),
    schedule_id=ScheduleId("p"),
    at=NOW,
    date="2026-09-08",
    label="10:00",
    timezone="Asia/Shanghai",
)


def test_a_slot_is_its_occurrence_with_the_targets_of_that_moment() -> None:
    assert slot_for(OCCURRENCE, [A, B], "cron") == a_slot(created_at=None)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Morning round", "Morning round"),
        ("  Morning  ", "Morning"),
        ("x" * 200, "x" * 80),
        ("   ", "10:00"),
        ("", "10:00"),
        (None, "10:00"),
        ("half \ud800", "half ?"),
    ],
)
def test_the_name_that_whoever_asks_gives_it_is_for_people_alone(label: str | None, name: str) -> None:
    slot = slot_for(OCCURRENCE, [A], "http", label)
    assert slot.slot_name == name
    assert slot.id == OCCURRENCE.slot_id
    assert slot.occurrence_label == "10:00"
