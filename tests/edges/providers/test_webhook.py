"""The document that a gateway gets, its headers and its signature, read from the wire."""

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from pixivflow.config.mask import Secret
from pixivflow.config.model import Capabilities
from pixivflow.delivery.artifact import Variant
from pixivflow.delivery.model import Accepted, Ack, ErrorClass, OutboxRow, PermanentFailure
from pixivflow.providers.webhook import signature
from tests.edges.providers.receivers import Arrival, answering, receiving
from tests.edges.providers.sending import PNG, attempted, gateway, of_files, pages, promised, without
from tests.fixtures.deliveries import KEY, NOW, a_row
from tests.fixtures.works import a_file, a_novel, a_work, an_asset


async def received(row: OutboxRow, *, environ: dict[str, str] | None = None, **options: Any) -> Arrival:
    """What arrives of one attempt at the row."""
    async with receiving(answering(200)) as [receiver]:
        ack = await attempted(row, gateway(receiver.url(), **options), environ=environ)
    assert isinstance(ack, Accepted), ack
    [arrival] = receiver.arrivals
    return arrival


async def unsent(row: OutboxRow, **options: Any) -> Ack:
    """What an attempt says that sends nothing."""
    async with receiving(answering(200)) as [receiver]:
        ack = await attempted(row, gateway(receiver.url(), **options))
    assert receiver.lines == 0
    return ack


async def test_the_document_says_what_is_shown_and_whose_promise_it_is(tmp_path: Path) -> None:
    [path] = pages(tmp_path, "71_p0.png")
    file = a_file(path, size=len(PNG))
    row = promised(a_work(artifacts=(file,), media_assets=(an_asset(file),), x_restrict=1))
    arrival = await received(row)

    media = {
        "kind": "image",
        "path": path,
        "mime": "image/png",
        "size": len(PNG),
        "sourceUrl": "https://i.pximg.net/img/71_p0.png",
        "assetId": "pixiv:71:illust:page-1",
    }
    assert json.loads(arrival.body) == {
        "schemaVersion": 1,
        "idempotencyKey": KEY,
        "deliveryTarget": "a",
        "work": {
            "id": "71",
            "type": "illustration",
            "title": "Sea",
            "sourceUrl": "https://www.pixiv.net/artworks/71",
            "spoiler": True,
            "tags": [],
        },
        "message": {
            "text": "Sea\nhttps://www.pixiv.net/artworks/71",
            "mediaTransport": "reference",
            "parts": [{"kind": "text"}, {"kind": "image", "media": media}],
            "media": [media],
            "dropped": [],
        },
        "delivery": {
            "idempotencyKey": KEY,
            "slotId": "daily@2027-01-15T0800",
            "targetId": "art",
            "executionId": "run-1",
            "triggerSource": "http",
        },
    }
    assert arrival.method == "POST"


async def test_the_same_promise_is_sent_as_the_same_bytes_under_the_same_key(tmp_path: Path) -> None:
    row = of_files(*pages(tmp_path, "1.png", "2.png"))
    for transport in ("reference", "base64"):
        first, second = [await received(row, media_transport=transport) for _ in range(2)]
        assert first.body == second.body
        assert first.headers["x-idempotency-key"] == second.headers["x-idempotency-key"] == KEY


async def test_a_promise_outside_any_occurrence_names_none() -> None:
    told = json.loads((await received(of_files_of_nothing())).body)
    assert told["delivery"] == {"idempotencyKey": KEY}


def of_files_of_nothing() -> OutboxRow:
    """A promise that only says what it is for."""
    context = {"idempotencyKey": KEY, "deliveryTarget": "a", "pixivId": "71", "title": "Sea"}
    return a_row(payload_json=json.dumps({"context": context}))


@pytest.mark.case("delivery", 64)
async def test_an_album_is_an_entry_for_each_of_its_pictures(tmp_path: Path) -> None:
    message = json.loads((await received(of_files(*pages(tmp_path, "1.png", "2.png")))).body)["message"]
    assert [part["kind"] for part in message["parts"]] == ["text", "album", "album"]
    assert [media["kind"] for media in message["media"]] == ["image", "image"]
    assert [part.get("media") for part in message["parts"][1:]] == message["media"]


async def test_files_come_before_pictures_and_a_novel_is_told_as_one(tmp_path: Path) -> None:
    text, package = pages(tmp_path, "71.txt", "71.zip")
    row = promised(a_novel(a_file(text, Variant.TEXT), a_file(package, Variant.ZIP)))
    told = json.loads((await received(row)).body)
    assert [part["kind"] for part in told["message"]["parts"]] == ["text", "file", "file"]
    assert told["work"]["type"] == "novel"
    assert told["work"]["sourceUrl"].startswith("https://www.pixiv.net/novel/")


@pytest.mark.case("delivery", 63)
async def test_a_content_that_was_frozen_as_text_is_sent_as_text(tmp_path: Path) -> None:
    content = {
        "text": "only words",
        "parts": [{"kind": "text", "text": "only words"}],
        "workId": "71",
        "workType": "illustration",
        "sourceUrl": "https://www.pixiv.net/artworks/71",
        "title": "Sea",
    }
    message = json.loads((await received(of_files(*pages(tmp_path, "1.png"), content=content))).body)["message"]
    assert (message["text"], message["media"]) == ("only words", [])
    assert message["parts"] == [{"kind": "text"}]


async def test_a_promise_of_an_older_program_is_shown_from_its_files(tmp_path: Path) -> None:
    row = without(of_files(*pages(tmp_path, "1.png", "2.png")), "content")
    message = json.loads((await received(row)).body)["message"]
    assert [part["kind"] for part in message["parts"]] == ["text", "album", "album"]
    assert message["text"] == "Sea\nhttps://www.pixiv.net/artworks/71"


async def test_a_gateway_far_away_gets_the_bytes_and_no_local_path(tmp_path: Path) -> None:
    arrival = await received(of_files(*pages(tmp_path, "1.png", "2.png")), media_transport="base64")
    message = json.loads(arrival.body)["message"]
    assert [base64.b64decode(media["dataBase64"]) for media in message["media"]] == [PNG, PNG]
    assert message["mediaTransport"] == "base64"
    assert str(tmp_path) not in arrival.body.decode()


async def test_a_file_of_several_pieces_and_an_empty_one_arrive_whole(tmp_path: Path) -> None:
    big = bytes(range(256)) * 10_000
    [one] = pages(tmp_path, "1.png", content=big)
    [two] = pages(tmp_path, "2.png", content=b"")
    arrival = await received(of_files(one, two), media_transport="base64")
    sent = [base64.b64decode(media["dataBase64"]) for media in json.loads(arrival.body)["message"]["media"]]
    assert sent == [big, b""]


@pytest.mark.case("delivery", 62)
async def test_files_that_are_too_long_together_are_not_sent(tmp_path: Path) -> None:
    row = of_files(*pages(tmp_path, "1.png", content=bytes(64)))
    ack = await unsent(row, media_transport="base64", max_inline_bytes=10)
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.INVALID_PAYLOAD


@pytest.mark.parametrize(("limit", "is_sent"), [(16, True), (15, False)])
async def test_the_limit_counts_the_text_of_all_files_together(tmp_path: Path, limit: int, is_sent: bool) -> None:
    row = of_files(*pages(tmp_path, "1.png", "2.png", content=b"four"))  # eight letters each
    options: dict[str, Any] = {"media_transport": "base64", "max_inline_bytes": limit}
    if is_sent:
        await received(row, **options)
    else:
        assert isinstance(await unsent(row, **options), PermanentFailure)


@pytest.mark.case("delivery", 113)
async def test_without_a_limit_of_its_own_a_route_takes_ten_mebibytes_and_with_none_any_length(tmp_path: Path) -> None:
    row = of_files(*pages(tmp_path, "1.png", content=bytes(12 * 1_048_576)))
    ack = await unsent(row, media_transport="base64")
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.INVALID_PAYLOAD
    assert "10485760" in ack.error
    assert len((await received(row, media_transport="base64", max_inline_bytes=0)).body) > 16 * 1_048_576


async def test_a_limit_does_not_count_files_that_the_gateway_reads_itself(tmp_path: Path) -> None:
    await received(of_files(*pages(tmp_path, "1.png")), max_inline_bytes=1)


async def test_what_a_gateway_cannot_show_is_left_out_and_said(tmp_path: Path) -> None:
    row = of_files(*pages(tmp_path, "1.png", "2.mp4"))
    message = json.loads((await received(row, capabilities=Capabilities(video=False))).body)["message"]
    assert message["dropped"] == [{"kind": "video", "reason": "video_not_supported"}]
    assert [part["kind"] for part in message["parts"]] == ["text", "image"]


async def test_a_work_of_which_nothing_could_be_shown_is_not_sent(tmp_path: Path) -> None:
    ack = await unsent(of_files(*pages(tmp_path, "1.png")), capabilities=Capabilities(image=False))
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.INVALID_PAYLOAD


# --- headers ---


async def test_a_gateway_hears_whose_promise_it_is_before_it_reads_the_body(tmp_path: Path) -> None:
    arrival = await received(of_files(*pages(tmp_path, "1.png"), route="überall"))
    assert arrival.headers["content-type"] == "application/json"
    assert arrival.headers["x-pixivflow-delivery"] == "überall"
    assert arrival.headers["x-idempotency-key"] == KEY
    assert arrival.headers["content-length"] == str(len(arrival.body))
    assert not {"authorization", "x-webhook-signature", "x-webhook-timestamp"} & arrival.headers.keys()


async def test_configured_headers_are_filled_and_cannot_replace_ours(tmp_path: Path) -> None:
    headers = {
        "X-Mine": "${MINE}\n",
        "content-type": "text/plain",
        "x-idempotency-key": "forged",
        "X-PIXIVFLOW-DELIVERY": "forged",
        "X-Webhook-Signature": "forged",
        "x-webhook-timestamp": "forged",
        "Content-Length": "1",
        "Transfer-Encoding": "chunked",
        "Host": "forged",
        "User-Agent": "mine/1",
    }
    row = of_files(*pages(tmp_path, "1.png"))
    arrival = await received(
        row, headers={name: Secret(value) for name, value in headers.items()}, environ={"MINE": "my value"}
    )
    assert arrival.headers["x-mine"] == "my value"
    assert arrival.headers["user-agent"] == "mine/1"
    assert "forged" not in arrival.headers.values()
    assert "transfer-encoding" not in arrival.headers
    assert arrival.headers["x-idempotency-key"] == KEY


async def test_a_token_is_a_bearer_s_and_wins_over_a_configured_header(tmp_path: Path) -> None:
    row = of_files(*pages(tmp_path, "1.png"))
    options = {"token": Secret("${GATE}\n"), "headers": {"authorization": Secret("Basic x")}}
    assert (await received(row, environ={"GATE": "t-1"}, **options)).headers["authorization"] == "Bearer t-1"
    assert (await received(row, headers=options["headers"])).headers["authorization"] == "Basic x"


async def test_the_bytes_that_arrive_are_the_bytes_that_are_signed(tmp_path: Path) -> None:
    row = of_files(*pages(tmp_path, "1.png"))
    for transport in ("reference", "base64"):
        arrival = await received(row, signing_secret=Secret("${S}"), media_transport=transport, environ={"S": "shared"})
        stamp = arrival.headers["x-webhook-timestamp"]
        signed = hmac.new(b"shared", stamp.encode() + b"." + arrival.body, hashlib.sha256).hexdigest()
        assert arrival.headers["x-webhook-signature"] == f"sha256={signed}"
        assert stamp == str(NOW // 1_000)


@pytest.mark.case("delivery", 61)
def test_a_signature_is_over_time_and_body_and_changes_with_either() -> None:
    """The value is what `printf '1800000000.{}' | openssl dgst -sha256 -hmac key` says."""
    assert signature("key", NOW + 999, b"{}") == [
        ("X-Webhook-Timestamp", b"1800000000"),
        ("X-Webhook-Signature", b"sha256=7321475872b03ff21bdc2dfd86ea2d99ec29c479fbe4a77aa6acf4509505493f"),
    ]
    assert signature("key", NOW, b"{}") != signature("key", NOW + 1_000, b"{}")
    assert signature("key", NOW, b"{}") != signature("key", NOW, b"{ }")
