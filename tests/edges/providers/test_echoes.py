"""Receivers that say back what they were sent: whole, in small letters, cut, or inside of anything that is kept."""

import base64
import json
from typing import Any

import msgspec
import pytest

from pixivflow.config.mask import Secret
from pixivflow.delivery.model import Ack, DuplicateExisting, PermanentFailure
from pixivflow.providers.evidence import SHOWN_CHARS
from pixivflow.providers.webhook_ack import RAW_CHARS
from tests.edges.providers.receivers import answering, receiving
from tests.edges.providers.sending import attempted, gateway, of_files, pages, submissions
from tests.fixtures.deliveries import KEY

TOKEN = "Tok-EN-1aBc9"
HEADER = {"Authorization": Secret(f"Bearer {TOKEN}")}
RECORD: dict[str, Any] = {"reused": True, "reuse_reason": "historical", "review_id": "r"}


async def said(folder: Any, kind: Any, body: object, status: int = 200, **options: Any) -> Ack:
    """What is kept of an answer with this body, as JSON unless it is bytes."""
    told = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with receiving(answering(status, told)) as [receiver]:
        url = receiver.url("/take").replace("http://", f"http://{options.pop('who', '')}")
        row = msgspec.structs.replace(of_files(*pages(folder, "1.png")), idempotency_key=KEY)
        return await attempted(row, kind(url, **{"headers": HEADER, **options}))


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        pytest.param(gateway, {"status": f"no such caller: {TOKEN}"}, 200, id="a gateway's word"),
        pytest.param(gateway, {"status": "rejected", "reason": TOKEN.upper()}, 200, id="a gateway's reason"),
        pytest.param(gateway, {"status": TOKEN.lower(), "id": TOKEN.swapcase()}, 409, id="a gateway's conflict"),
        pytest.param(gateway, {"matched_idempotency_key": TOKEN.lower()}, 409, id="the key that a gateway names"),
        pytest.param(submissions, {"data": {"status": TOKEN, "review_id": TOKEN}}, 200, id="a record's state"),
        pytest.param(submissions, {"data": {"status": "failed", "reuse_reason": TOKEN}}, 200, id="a record's reason"),
        pytest.param(
            submissions, {"data": {**RECORD, "matched_idempotency_key": TOKEN}}, 200, id="the key that a record names"
        ),
        pytest.param(
            submissions, {"data": {"media_fallback_reason": "x" * 195 + TOKEN}}, 200, id="what was published instead"
        ),
        pytest.param(submissions, {"caller": TOKEN.lower()}, 400, id="a page of error"),
    ],
)
async def test_a_credential_is_kept_in_no_case_and_nowhere(tmp_path: Any, kind: Any, body: object, status: int) -> None:
    ack = await said(tmp_path, kind, body, status)
    assert TOKEN[:6].lower() not in repr(ack).lower()
    assert "***" in repr(ack)


@pytest.mark.parametrize(("kind", "shown"), [(gateway, RAW_CHARS), (submissions, SHOWN_CHARS)])
@pytest.mark.parametrize("kept", [1, 4, 8])
async def test_the_beginning_of_a_credential_does_not_outlive_a_cut(
    tmp_path: Any, kind: Any, shown: int, kept: int
) -> None:
    ack = await said(tmp_path, kind, b"." * (shown - kept) + TOKEN.encode() + b"." * 100, 400)
    assert isinstance(ack, PermanentFailure)
    assert ack.error.endswith(("." + "***"[:kept], "***" + "." * (kept - 3)))


@pytest.mark.parametrize("kind", [gateway, submissions])
@pytest.mark.parametrize("told", ["{basic}", "{login}", "{raw}"])
async def test_the_login_of_an_address_is_not_kept_as_it_was_sent(tmp_path: Any, kind: Any, told: str) -> None:
    login = "user-4:word/5"
    basic = base64.b64encode(login.encode()).decode()
    body = told.format(basic=basic, login=login, raw="user-4:word%2F5")
    ack = await said(tmp_path, kind, f"who is <{body}>?".encode(), 400, who="user-4:word%2F5@", headers={})
    assert isinstance(ack, PermanentFailure)
    assert "who is <***>?" in ack.error


async def test_a_login_that_was_encoded_by_hand_is_not_kept_decoded(tmp_path: Any) -> None:
    header = {"Authorization": Secret("Basic " + base64.b64encode(b"user-4:word-5").decode())}
    ack = await said(tmp_path, gateway, b"no such word: word-5", 400, headers=header)
    assert "word-5" not in repr(ack)


@pytest.mark.parametrize("kind", [gateway, submissions])
async def test_our_own_key_is_known_again_whatever_is_secret(tmp_path: Any, kind: Any) -> None:
    header = {"X-Api-Key": Secret(KEY[:8])}
    body = {"matched_idempotency_key": KEY} if kind is gateway else {"data": {**RECORD, "matched_idempotency_key": KEY}}
    ack = await said(tmp_path, kind, body, 409 if kind is gateway else 200, headers=header)
    assert isinstance(ack, DuplicateExisting)
    assert ack.matched_key == KEY


@pytest.mark.parametrize("kind", [gateway, submissions])
async def test_a_credential_that_the_receiver_itself_cut_in_two_is_not_kept(tmp_path: Any, kind: Any) -> None:
    ack = await said(tmp_path, kind, f"who is {TOKEN[:8]}".encode(), 400)
    assert isinstance(ack, PermanentFailure)
    assert ack.error.endswith("who is ***")


@pytest.mark.parametrize("kind", [gateway, submissions])
async def test_an_error_of_our_own_does_not_repeat_a_credential_either(tmp_path: Any, kind: Any) -> None:
    row = of_files(*pages(tmp_path, "1.png"))
    ack = await attempted(row, kind("http://127.0.0.1:${PORT}/"), environ={"PORT": TOKEN})
    assert isinstance(ack, PermanentFailure)
    assert TOKEN not in ack.error
    assert "***" in ack.error
