"""A submission as it arrives: its parts, its fields, its length, and that a repetition is the same."""

import json
import os
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Any

import pytest

from pixivflow.config.mask import Secret
from pixivflow.delivery.artifact import MediaAsset
from pixivflow.delivery.model import Accepted, Ack, ErrorClass, OutboxRow, PermanentFailure
from pixivflow.delivery.payload import read
from pixivflow.providers.multipart_body import escaped
from tests.edges.providers.receivers import Arrival, Line, answering, receiving
from tests.edges.providers.sending import PNG, attempted, of_files, pages, promised, submissions
from tests.fixtures.deliveries import KEY, a_row
from tests.fixtures.works import a_file, a_work, an_asset

Part = tuple[str, str | None, bytes]
"""A part's name, its file name and its bytes."""


async def received(row: OutboxRow, *, environ: dict[str, str] | None = None, **options: Any) -> Arrival:
    """What arrives of one attempt at the row."""
    async with receiving(answering(201)) as [receiver]:
        ack = await attempted(row, submissions(receiver.url(), **options), environ=environ)
    assert isinstance(ack, Accepted), ack
    [arrival] = receiver.arrivals
    return arrival


async def unsent(row: OutboxRow, **options: Any) -> Ack:
    """What an attempt says that sends nothing."""
    async with receiving(answering(201)) as [receiver]:
        ack = await attempted(row, submissions(receiver.url(), **options))
    assert receiver.lines == 0
    return ack


def parts(arrival: Arrival) -> list[Part]:
    """The parts, read by the standard library."""
    head = f"Content-Type: {arrival.headers['content-type']}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + arrival.body)
    assert not message.defects
    return [
        (
            str(part.get_param("name", header="content-disposition")),
            part.get_filename(),
            part.get_payload(decode=True),  # type: ignore[misc]
        )
        for part in message.iter_parts()
    ]


def fields(arrival: Arrival) -> list[tuple[str, str]]:
    """The parts that are no files."""
    return [(name, content.decode()) for name, file_name, content in parts(arrival) if file_name is None]


def row_of(folder: Path, **more: Any) -> OutboxRow:
    return of_files(*pages(folder, "71_p0.png"), **more)


async def test_files_come_first_then_the_fields_and_the_length_is_exact(tmp_path: Path) -> None:
    row = of_files(*pages(tmp_path, "71_p0.png", "71_p1.png"))
    arrival = await received(row, fields={"title": "{{title}}"})
    assert parts(arrival) == [
        ("files", "71_p0.png", PNG),
        ("files", "71_p1.png", PNG),
        ("title", None, b"Sea"),
        ("idempotency_key", None, KEY.encode()),
    ]
    assert arrival.headers["content-length"] == str(len(arrival.body))
    assert "transfer-encoding" not in arrival.headers
    assert arrival.headers["content-type"].startswith("multipart/form-data; boundary=pixivflow-")


async def test_two_attempts_send_the_same_parts_and_only_another_boundary(tmp_path: Path) -> None:
    row = of_files(*pages(tmp_path, "1.png", "2.png"))
    one, two = [await received(row, fields={"a": "{{title}}", "b": "{{workTags}}"}) for _ in range(2)]
    boundaries = [arrival.headers["content-type"].partition("boundary=")[2].encode() for arrival in (one, two)]
    assert boundaries[0] != boundaries[1]
    assert one.body.replace(boundaries[0], b"") == two.body.replace(boundaries[1], b"")


async def test_no_local_path_and_no_guessed_type_leaves(tmp_path: Path) -> None:
    arrival = await received(row_of(tmp_path))
    assert str(tmp_path).encode() not in arrival.body
    assert b"Content-Type: application/octet-stream\r\n" in arrival.body


async def test_a_large_file_and_an_empty_one_arrive_whole(tmp_path: Path) -> None:
    big = bytes(range(256)) * 10_000
    [one] = pages(tmp_path, "1.png", content=big)
    [two] = pages(tmp_path, "2.png", content=b"")
    files = [content for _, file_name, content in parts(await received(of_files(one, two))) if file_name]
    assert files == [big, b""]


async def test_a_file_that_changes_its_length_while_it_is_sent_is_not_passed_off_as_whole(tmp_path: Path) -> None:
    big = pages(tmp_path, "1.png", content=bytes(16_000_000))[0]
    row = of_files(big)

    async def cutting(line: Line) -> None:
        await line.stream.receive_some(1_000)
        os.truncate(big, 5)
        while await line.stream.receive_some(1_000_000):
            pass

    async with receiving(cutting) as [receiver]:
        ack = await attempted(row, submissions(receiver.url()))
    assert isinstance(ack, PermanentFailure)
    assert (ack.error_class, ack.answer_unknown) == (ErrorClass.INVALID_PAYLOAD, True)
    assert receiver.arrivals == []


async def test_previews_stand_between_files_and_fields_under_their_own_name(tmp_path: Path) -> None:
    one, two, small_one, small_two = pages(tmp_path, "1.png", "2.png", "s1.png", "s2.png")
    row = promised(a_work(one, two, preview_files=(small_one, small_two)))
    arrival = await received(row, file_field="images", preview_file_field="thumbs")
    assert [(name, file_name) for name, file_name, _ in parts(arrival)] == [
        ("images", "1.png"),
        ("images", "2.png"),
        ("thumbs", "s1.png"),
        ("thumbs", "s2.png"),
        ("idempotency_key", None),
    ]


@pytest.mark.case("delivery", 69)
async def test_previews_that_do_not_fit_the_files_are_an_error_and_nothing_is_sent(tmp_path: Path) -> None:
    one, two, small = pages(tmp_path, "1.png", "2.png", "s.png")
    ack = await unsent(promised(a_work(one, two, preview_files=(small,))))
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.INVALID_PAYLOAD


async def test_an_empty_submission_is_an_error_and_nothing_is_sent() -> None:
    ack = await unsent(a_row(payload_json='{"files": []}'))
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.INVALID_PAYLOAD


async def test_a_receiver_may_want_another_method_and_its_own_headers(tmp_path: Path) -> None:
    arrival = await received(
        row_of(tmp_path),
        method="PUT",
        headers={
            "Authorization": Secret("Bearer ${T}"),
            "content-type": Secret("text/plain"),
            "CONTENT-LENGTH": Secret("3"),
        },
        environ={"T": "t-1"},
    )
    assert arrival.method == "PUT"
    assert arrival.headers["authorization"] == "Bearer t-1"
    assert arrival.headers["content-type"].startswith("multipart/")
    assert arrival.headers["content-length"] == str(len(arrival.body))


# --- fields ---


async def test_fields_of_the_target_replace_those_of_the_route(tmp_path: Path) -> None:
    row = row_of(tmp_path, fields={"channel": "art", "title": "<{{title}}>"})
    arrival = await received(row, fields={"title": "{{title}}", "by": "{{author}}"}, auto_idempotency_key=False)
    assert fields(arrival) == [("title", "<Sea>"), ("by", "Kai"), ("channel", "art")]


@pytest.mark.case("delivery", 65)
async def test_the_key_is_a_field_of_its_own_unless_the_route_has_one_or_wants_none(tmp_path: Path) -> None:
    row = row_of(tmp_path)
    assert fields(await received(row)) == [("idempotency_key", KEY)]
    assert fields(await received(row, auto_idempotency_key=False)) == []
    for name in ("idempotency_key", "idempotencyKey"):
        assert fields(await received(row, fields={name: "{{idempotencyKey}}!"})) == [(name, f"{KEY}!")]


@pytest.mark.case("delivery", 66)
@pytest.mark.parametrize(
    ("array_format", "value", "expected"),
    [
        ("json", "x", ['["x"]']),
        ("json", ("{{title}}", "b\n"), ['["Sea","b\\n"]']),
        ("json", 5, ['["5"]']),
        ("comma", ("a", "{{title}}"), ["a,Sea"]),
        ("comma", "x", ["x"]),
        ("repeat", ("a", "{{title}}"), ["a", "Sea"]),
        ("repeat", "x", ["x"]),
        ("repeat", (), []),
        ("comma", True, ["true"]),
        ("comma", False, ["false"]),
        ("comma", 7, ["7"]),
        ("comma", 1.0, ["1"]),
        ("comma", 0.5, ["0.5"]),
        ("comma", "{{unknown}}", [""]),
        ("comma", "{{workTags}}", ["sea,blue"]),
    ],
)
async def test_a_value_is_sent_in_the_form_that_the_route_names(
    tmp_path: Path, array_format: str, value: object, expected: list[str]
) -> None:
    arrival = await received(
        row_of(tmp_path), fields={"f": value}, array_format=array_format, auto_idempotency_key=False
    )
    assert fields(arrival) == [("f", text) for text in expected]


async def test_the_key_that_we_add_is_plain_in_every_form(tmp_path: Path) -> None:
    assert fields(await received(row_of(tmp_path), array_format="json")) == [("idempotency_key", KEY)]


async def test_what_is_known_of_the_pictures_at_pixiv_is_one_field_for_a_strict_receiver(tmp_path: Path) -> None:
    [path] = pages(tmp_path, "1.png")
    file = a_file(path)
    typed = MediaAsset(id="pixiv:71:illust:page-2", source_url="https://i.pximg.net/2.png", mime_type="image/png")
    row = promised(a_work(artifacts=(file,), media_assets=(an_asset(file), typed)))
    told = dict(fields(await received(row, fields={"media_assets": "mine"})))
    assert json.loads(told["media_assets"]) == [
        {
            "asset_id": "pixiv:71:illust:page-1",
            "kind": "image",
            "source_url": "https://i.pximg.net/img/71_p0.png",
        },
        {
            "asset_id": "pixiv:71:illust:page-2",
            "kind": "image",
            "source_url": "https://i.pximg.net/2.png",
            "mime_type": "image/png",
        },
    ]


async def test_a_configured_field_of_that_name_stays_where_no_pictures_are_known(tmp_path: Path) -> None:
    told = dict(fields(await received(row_of(tmp_path), fields={"media_assets": "mine"})))
    assert told["media_assets"] == "mine"


@pytest.mark.case("delivery", 68)
async def test_a_request_id_is_sent_in_its_canonical_form_and_stored_as_it_was_spelt(tmp_path: Path) -> None:
    bare = "123E4567E89B12D3A456426614174000"
    row = row_of(tmp_path, occasion={"refetch_request_id": bare})
    told = dict(fields(await received(row, fields={"refetch_request_id": "{{refetchRequestId}}"})))
    assert told["refetch_request_id"] == "123e4567-e89b-12d3-a456-426614174000"
    assert read(row.payload_json).context.refetch_request_id == bare


async def test_a_provenance_that_would_arrive_unfilled_is_an_error_and_nothing_is_sent(tmp_path: Path) -> None:
    row = promised(a_work(*pages(tmp_path, "1.png"), title="{{title}}"))
    ack = await unsent(row, fields={"refetch_request_id": "{{title}}"})
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.INVALID_PAYLOAD


# --- names ---


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain.png", "plain.png"),
        ('a"; filename="b', "a%22; filename=%22b"),
        ("a\r\nX-Injected: 1", "a  X-Injected: 1"),
        ("海.png", "海.png"),
    ],
)
def test_a_name_can_end_neither_its_quotes_nor_its_line(name: str, expected: str) -> None:
    assert escaped(name) == expected


async def test_a_file_s_and_a_field_s_name_stay_inside_their_quotes(tmp_path: Path) -> None:
    row = of_files(*pages(tmp_path, 'a"b\nc.png'))
    arrival = await received(row, fields={'f"\r\nX-Injected: 1': "x"}, file_field='f"g')
    assert [(name, file_name) for name, file_name, _ in parts(arrival)] == [
        ("f%22g", "a%22b c.png"),
        ("f%22  X-Injected: 1", None),
        ("idempotency_key", None),
    ]


async def test_a_text_of_any_letters_is_sent_as_utf_8(tmp_path: Path) -> None:
    row = promised(a_work(*pages(tmp_path, "海.png"), title="海と\udc80空"))
    arrival = await received(row, fields={"t": "{{title}}"})
    assert [(name, content) for name, _, content in parts(arrival)][1] == ("t", "海と?空".encode())
    assert 'filename="海.png"'.encode() in arrival.body
