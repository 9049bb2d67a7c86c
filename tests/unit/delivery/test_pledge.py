"""What a run promises of a work that it brought home."""

import json
from typing import Any

import msgspec
import pytest

from pixivflow.config.model import Target, TargetDelivery
from pixivflow.delivery.artifact import Artifact, MediaAsset, Variant
from pixivflow.delivery.payload import read
from pixivflow.delivery.pledge import Terms, _deliverable, pledges
from pixivflow.errors import Rejected, Unavailable
from pixivflow.ids import ScheduleId, SlotId, TargetId, WorkId
from pixivflow.selection.model import Page, Tag, WorkDetail, WorkKind
from pixivflow.slots.model import BoundWork, Slot, WorkType
from pixivflow.slots.ports import Entry, FetchedFile

NOW = 1_800_000_000_000
SLOT = Slot(
    id=SlotId("daily@2027-01-15T0800"),
    schedule_id=ScheduleId("daily"),
    occurrence_at=NOW,
    slot_date="2027-01-15",
    slot_name="morning",
    trigger_source="http",
)
TERMS = Terms(slot=SLOT, started_at=NOW)


def a_detail(**fields: Any) -> WorkDetail:
    known: dict[str, Any] = {
        "id": WorkId("71"),
        "kind": WorkKind.ILLUSTRATION,
        "title": "Sea",
        "user_name": "Kai",
        "tags": (Tag("sea", "the sea"), Tag("blue")),
        "created_at": NOW,
        "bookmarks": 1_234,
        "views": 99_000,
        "x_restrict": 1,
        "pages": tuple(
            Page(index=n, original_url=f"https://i.test/{n}.png", fallback_url=f"https://i.test/{n}.jpg")
            for n in (1, 2)
        ),
    }
    return WorkDetail(**(known | fields))


def a_page(n: int, **fields: Any) -> FetchedFile:
    known: dict[str, Any] = {
        "page": n,
        "path": f"/w/71_p{n - 1}.png",
        "size": 3,
        "sha256": "ab" * 32,
        "mime": "image/png",
        "format": "png",
    }
    return FetchedFile(**(known | fields))


def an_entry(*, target: dict[str, Any] | None = None, **fields: Any) -> Entry[WorkDetail]:
    delivery = TargetDelivery(targets=("a", " b"), fields={"channel": "art"})
    wanted = Target(type="illustration", storage_mode="cache", delivery=delivery, **(target or {"tag": "sea"}))
    known: dict[str, Any] = {
        "target": wanted,
        "target_id": TargetId("art"),
        "work": BoundWork(work_id=WorkId("71"), work_type=WorkType.ILLUSTRATION),
        "detail": a_detail(),
        "files": (a_page(1), a_page(2)),
        "binds": True,
    }
    return Entry(**(known | fields))


def pledged(entry: Entry[WorkDetail] | None = None, terms: Terms = TERMS) -> list[Any]:
    ids = iter(range(100))
    return list(pledges(entry or an_entry(), terms, lambda _: 3, lambda: f"id-{next(ids)}"))


def test_every_route_gets_a_promise_of_its_own_under_the_key_of_the_cell() -> None:
    one, two = pledged()
    assert [promise.route for promise in (one, two)] == ["a", "b"]
    assert one.idempotency_key == "pixivflow:a:illustration:71:daily@2027-01-15T0800:art"
    assert len({one.delivery_id, one.outbox_id, two.delivery_id, two.outbox_id}) == 4


def test_a_promise_holds_the_pages_in_their_order_and_the_fields_of_the_target() -> None:
    payload = read(pledged()[0].payload_json)
    assert payload.files == ("/w/71_p0.png", "/w/71_p1.png")
    assert payload.fields == {"channel": "art"}
    assert payload.delete_after_delivery is True
    assert payload.shown.spoiler is True


def test_a_promise_says_which_work_for_whom_and_from_which_occurrence() -> None:
    context = msgspec.to_builtins(read(pledged()[0].payload_json).context)
    assert context == {
        "deliveryTarget": "a",
        "idempotencyKey": "pixivflow:a:illustration:71:daily@2027-01-15T0800:art",
        "title": "Sea",
        "pixivId": "71",
        "workTags": ("sea", "blue"),
        "author": "Kai",
        "spoiler": True,
        "xRestrict": 1,
        "publishedAt": "2027-01-15T08:00:00.000Z",
        "bookmarkCount": 1_234,
        "viewCount": 99_000,
        "targetId": "art",
        "tag": "sea",
        "slotId": "daily@2027-01-15T0800",
        "slotName": "morning",
        "slotDate": "2027-01-15",
        "scheduleId": "daily",
        "executionId": "daily@2027-01-15T0800",
        "occurrenceAt": "2027-01-15T08:00:00.000Z",
        "triggerSource": "http",
    }


@pytest.mark.case("delivery", 114)
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"tag": "sea", "filter_tag": "blue"}, "sea"),
        ({"filter_tag": "blue"}, "blue"),
        ({"mode": "topic", "topic": "water"}, "water"),
    ],
)
def test_the_label_is_what_the_target_looks_for(target: dict[str, Any], expected: str) -> None:
    assert read(pledged(an_entry(target=target))[0].payload_json).context.tag == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"mode": "ranking", "ranking_date": "2027-01-01"}, "2027-01-01"),
        ({"mode": "ranking", "ranking_date": "YESTERDAY"}, "2027-01-14"),
        ({"mode": "ranking"}, ""),
        ({"mode": "search", "ranking_date": "2027-01-01"}, ""),
    ],
)
def test_the_day_of_a_ranking_is_told_as_a_day(target: dict[str, Any], expected: str) -> None:
    assert read(pledged(an_entry(target=target))[0].payload_json).context.ranking_date == expected


def test_a_requester_s_id_travels_with_the_promise() -> None:
    asked = msgspec.structs.replace(SLOT, manual_request_id="123E")
    found = pledged(terms=msgspec.structs.replace(TERMS, slot=asked))
    assert read(found[0].payload_json).context.refetch_request_id == "123E"


def test_the_setting_that_keeps_files_is_frozen_with_the_promise() -> None:
    found = pledged(terms=msgspec.structs.replace(TERMS, delete_after_delivery=False))
    assert json.loads(found[0].payload_json)["deleteAfterDelivery"] is False


def test_each_file_knows_the_picture_that_it_came_from_also_where_that_is_a_smaller_one() -> None:
    made = _deliverable(an_entry(files=(a_page(1), a_page(2, degraded=True))), "mine")
    assert made.artifacts[0] == Artifact(
        id="pixiv:71:original:71_p0.png",
        work_id=WorkId("71"),
        variant=Variant.ORIGINAL,
        path="/w/71_p0.png",
        mime_type="image/png",
        size=3,
        checksum="ab" * 32,
    )
    assert made.media_assets == (
        MediaAsset(
            id="mine:71:illust:page-1",
            source_url="https://i.test/1.png",
            page=1,
            artifact_id="pixiv:71:original:71_p0.png",
        ),
        MediaAsset(
            id="mine:71:illust:page-2",
            source_url="https://i.test/2.jpg",
            page=2,
            artifact_id="pixiv:71:original:71_p1.png",
        ),
    )


def test_a_work_of_which_pixiv_tells_little_is_promised_all_the_same() -> None:
    bare = WorkDetail(id=WorkId("71"), kind=WorkKind.UGOIRA)
    context = read(pledged(an_entry(detail=bare))[0].payload_json).context
    assert (context.title, context.author, context.published_at) == ("", "", "")


def test_a_work_whose_file_is_gone_or_that_has_none_is_not_promised() -> None:
    with pytest.raises(Unavailable, match="71_p0"):
        pledges(an_entry(), TERMS, lambda _: None, lambda: "id")
    with pytest.raises(Rejected):
        pledged(an_entry(files=()))
