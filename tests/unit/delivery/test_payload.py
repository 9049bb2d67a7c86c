"""What is frozen with a promise, and reading it back, also what another program froze."""

import json

import pytest

from pixivflow.delivery.content import link
from pixivflow.delivery.intents import frozen_payload
from pixivflow.delivery.media import AlbumPart, ImagePart, Media, TextPart
from pixivflow.delivery.payload import Context, Payload, Unreadable, frozen, read
from pixivflow.errors import Rejected, Unavailable
from pixivflow.ids import RouteName
from pixivflow.slots.model import WorkType
from tests.fixtures.works import a_file, a_novel, a_work, an_asset, an_occasion

KEY = "pixivflow:a:illustration:71:s:t"


def three_bytes(_path: str) -> int:
    return 3


def stored(**options: object) -> str:
    work = a_work("/w/1.png", "/w/2.png", cleanup_files=("/w/1.json",))
    whole = frozen(work, an_occasion(), three_bytes, **options)  # type: ignore[arg-type]
    return frozen_payload(whole, RouteName("a"), KEY)


def test_everything_that_an_attempt_needs_comes_back_from_the_row() -> None:
    found = read(stored(fields={"title": "{{title}}", "n": 3, "on": True, "tags": ("a", "b")}))

    assert found.files == ("/w/1.png", "/w/2.png")
    assert found.cleanup_files == ("/w/1.json",)
    assert found.fields == {"title": "{{title}}", "n": 3, "on": True, "tags": ("a", "b")}
    assert found.delete_after_delivery is True
    assert found.content is not None
    assert found.shown is found.content
    assert found.content.parts[0] == TextPart(f"Sea\n{link(WorkType.ILLUSTRATION, '71')}")
    assert isinstance(found.content.parts[1], AlbumPart)


def test_the_context_names_the_work_the_cell_the_run_and_the_ledger_s_own_key() -> None:
    assert read(stored()).context == Context(
        delivery_target="a",
        idempotency_key=KEY,
        title="Sea",
        pixiv_id="71",
        type="illustration",
        target_id="art",
        tag="sea",
        work_tags=("sea", "blue"),
        author="Kai",
        x_restrict=0,
        published_at="2026-01-15T03:00:00+00:00",
        slot_id="daily@2027-01-15T0800",
        slot_name="daily",
        slot_date="2027-01-15",
        schedule_id="daily",
        execution_id="run-1",
        occurrence_at="2027-01-15T00:00:00.000Z",
        trigger_source="http",
    )


def test_keys_of_the_row_are_those_that_other_programs_read() -> None:
    told = json.loads(stored(delete_after_delivery=False))
    assert {"version", "files", "previewFiles", "cleanupFiles", "content", "context"} <= told.keys()
    assert told["deleteAfterDelivery"] is False
    assert told["context"]["pixivId"] == "71"
    assert told["content"]["parts"][0]["kind"] == "text"


def test_the_same_work_is_frozen_into_the_same_text() -> None:
    assert stored() == stored()


def test_a_work_whose_file_is_gone_is_not_promised() -> None:
    with pytest.raises(Unavailable, match=r"/w/71_p0\.png"):
        frozen(a_work(), an_occasion(), lambda _path: None)


def test_a_work_without_a_file_is_not_promised() -> None:
    with pytest.raises(Rejected):
        frozen(a_novel(), an_occasion(), three_bytes)


def test_the_pictures_at_pixiv_are_kept_beside_the_files() -> None:
    file = a_file("/w/1.png")
    work = a_work(artifacts=(file,), media_assets=(an_asset(file),))
    found = read(frozen_payload(frozen(work, an_occasion(), three_bytes), RouteName("a"), KEY))
    assert found.media_assets == work.media_assets


def test_a_requester_s_id_is_stored_as_it_was_spelt() -> None:
    bare = "123E4567E89B12D3A456426614174000"
    whole = frozen(a_work(), an_occasion(refetch_request_id=bare), three_bytes)
    assert read(frozen_payload(whole, RouteName("a"), KEY)).context.refetch_request_id == bare


# --- what another program froze ---


def test_nulls_numbers_as_text_and_unknown_keys_of_another_program_are_read() -> None:
    found = read(
        json.dumps(
            {
                "files": ["/w/1.png"],
                "fields": None,
                "mediaAssets": None,
                "manifest": {"a": 1},
                "context": {"title": "Sea", "author": None, "slotId": None, "xRestrict": "1", "more": []},
            }
        )
    )
    assert found.fields is None
    assert found.context == Context(title="Sea", x_restrict=1)


def test_a_promise_without_a_content_shows_its_files() -> None:
    told = {"files": ["/w/1.png", "/w/2.png"], "context": {"pixivId": "9", "title": "Old", "type": "novel"}}
    shown = read(json.dumps(told)).shown
    assert shown.text == "Old\nhttps://www.pixiv.net/novel/show.php?id=9"
    assert shown.parts[1] == AlbumPart(
        (Media(path="/w/1.png", mime="image/png"), Media(path="/w/2.png", mime="image/png"))
    )


def test_a_promise_without_a_content_keeps_previews_that_fit() -> None:
    told = {"files": ["/w/1.png"], "previewFiles": ["/w/s.png"], "context": {}}
    [_, part] = read(json.dumps(told)).shown.parts
    assert part == ImagePart(Media(path="/w/1.png", mime="image/png", preview_path="/w/s.png"))


def test_a_content_that_holds_only_text_is_not_given_files() -> None:
    told = {
        "files": ["/w/1.png"],
        "content": {
            "text": "only words",
            "parts": [{"kind": "text", "text": "only words"}],
            "workId": "71",
            "workType": "illustration",
            "sourceUrl": "https://www.pixiv.net/artworks/71",
            "title": "Sea",
        },
    }
    assert read(json.dumps(told)).shown.parts == (TextPart("only words"),)


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "not json",
        "[]",
        "null",
        '{"files": 5}',
        '{"files": [5]}',
        '{"context": []}',
        '{"content": {"parts": [{"kind": "hologram"}]}}',
        '{"version": 2}',
        '{"a":' * 100_000,
    ],
)
def test_what_cannot_be_sent_from_is_refused_as_unreadable(payload: str) -> None:
    with pytest.raises(Unreadable):
        read(payload)


def test_a_payload_of_no_version_is_of_the_first() -> None:
    assert read("{}") == Payload()
