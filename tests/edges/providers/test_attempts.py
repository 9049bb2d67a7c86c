"""One row, one attempt, one ACK: whatever the route, the files and the line make of it."""

import logging
import os
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from pixivflow.config.mask import Secret
from pixivflow.config.model import Route, Telegram
from pixivflow.delivery.ack import leaves_answer_unknown, understood
from pixivflow.delivery.model import (
    Accepted,
    DuplicateExisting,
    ErrorClass,
    IdempotentReplay,
    PermanentFailure,
    RetryableFailure,
    RowKind,
)
from pixivflow.providers import egress
from pixivflow.providers.addresses import anywhere
from pixivflow.providers.attempts import Attempts
from pixivflow.times import Timings
from tests.edges.providers.receivers import (
    Behave,
    answering,
    drip,
    half_an_answer,
    hang,
    hang_up,
    in_turn,
    receiving,
    reset,
)
from tests.edges.providers.sending import attempted, gateway, of_files, pages, submissions
from tests.fixtures.deliveries import KEY, NOW, a_row

KINDS = [gateway, submissions]


@pytest.fixture
def page(tmp_path: Path) -> str:
    return pages(tmp_path, "71_p0.png")[0]


# --- nothing was sent ---


@pytest.mark.case("delivery", 36)
async def test_a_route_that_the_configuration_does_not_have_is_dead_at_once(page: str) -> None:
    ack = await attempted(of_files(page), None)
    assert isinstance(ack, PermanentFailure)
    assert (ack.error_class, ack.answer_unknown) == (ErrorClass.CONFIGURATION_ERROR, False)
    assert "'a'" in ack.error


@pytest.mark.case("delivery", 37)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [{"url": "{url}?k=${X_OF_TEST}"}, {"headers": {"Authorization": Secret("Bearer ${X_OF_TEST}")}}],
    ids=["in the URL", "in a header"],
)
async def test_a_variable_that_is_not_set_is_named_and_nothing_is_sent(
    page: str, kind: Any, options: dict[str, Any]
) -> None:
    async with receiving(answering()) as [receiver]:
        url = str(options.get("url", "{url}")).replace("{url}", receiver.url())
        for environ in ({}, {"X_OF_TEST": ""}):
            ack = await attempted(of_files(page), kind(**{**options, "url": url}), environ=environ)
            assert isinstance(ack, PermanentFailure)
            assert (ack.error_class, ack.answer_unknown) == (ErrorClass.CONFIGURATION_ERROR, False)
            assert "X_OF_TEST" in ack.error
    assert receiver.lines == 0


async def test_the_token_of_a_gateway_and_its_secret_are_filled_or_nothing_is_sent(page: str) -> None:
    async with receiving(answering()) as [receiver]:
        for name in ("token", "signing_secret"):
            ack = await attempted(of_files(page), gateway(receiver.url(), **{name: Secret("${GATE}")}))
            assert isinstance(ack, PermanentFailure)
            assert "GATE" in ack.error
    assert receiver.lines == 0


@pytest.mark.case("delivery", 38)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_file_that_is_deleted_after_the_promise_is_named_and_nothing_is_sent(tmp_path: Path, kind: Any) -> None:
    first, second = pages(tmp_path, "1.png", "2.png")
    row = of_files(first, second)
    os.unlink(second)
    async with receiving(answering()) as [receiver]:
        ack = await attempted(row, kind(receiver.url()))
    assert isinstance(ack, PermanentFailure)
    assert (ack.error_class, ack.answer_unknown, ack.error) == (ErrorClass.INVALID_PAYLOAD, False, "2.png is gone")
    assert receiver.lines == 0


@pytest.mark.parametrize("kind", KINDS)
async def test_a_folder_or_a_pipe_in_the_place_of_a_file_is_no_file(tmp_path: Path, kind: Any) -> None:
    [path] = pages(tmp_path, "1.png")
    row = of_files(path)
    os.unlink(path)
    for make in (os.mkdir, os.mkfifo):
        make(path)
        ack = await attempted(row, kind("http://127.0.0.1:9/"))
        assert isinstance(ack, PermanentFailure)
        assert ack.error == "1.png is gone"
        os.rmdir(path) if make is os.mkdir else os.unlink(path)


@pytest.mark.parametrize("payload", ["{", "[]", '{"version": 9}', '{"files": 5}'])
async def test_a_payload_that_cannot_be_read_is_dead_at_once(payload: str) -> None:
    ack = await attempted(a_row(payload_json=payload), gateway("http://127.0.0.1:9/"))
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.INVALID_PAYLOAD


async def test_a_kind_of_route_that_is_not_served_is_the_operator_s_to_mend(page: str) -> None:
    chat: Route = Telegram(
        bot_id="b",
        bot_token=Secret("1:x"),
        chat_id="1",
        publish_chat_id="2",
        control_plane_url="http://127.0.0.1:9",
        control_plane_token=Secret("t"),
    )
    ack = await attempted(of_files(page), chat)
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.CONFIGURATION_ERROR


@pytest.mark.parametrize("kind", [RowKind.NOTIFICATION, RowKind.EVENT_CALLBACK])
async def test_a_row_that_is_no_work_is_not_sent_as_one(kind: RowKind) -> None:
    row = a_row(kind=kind, delivery_id=None)
    ack = await attempted(row, gateway("http://127.0.0.1:9/"))
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.CONFIGURATION_ERROR


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["bad name", "", "a:b"])
async def test_a_header_that_cannot_be_sent_is_the_operator_s_to_mend(page: str, kind: Any, name: str) -> None:
    ack = await attempted(of_files(page), kind("http://127.0.0.1:9/", headers={name: Secret("x")}))
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.CONFIGURATION_ERROR


async def test_a_header_cannot_be_split_in_two_by_its_value_which_is_not_told(page: str) -> None:
    header = {"Authorization": Secret("Bearer ${T}")}
    ack = await attempted(of_files(page), gateway("http://127.0.0.1:9/", headers=header), environ={"T": "so\nsecret"})
    assert isinstance(ack, PermanentFailure)
    assert ack.error_class is ErrorClass.CONFIGURATION_ERROR
    assert "Authorization" in ack.error
    assert "secret" not in ack.error


# --- the line ---


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("behave", "is_unknown"),
    [
        pytest.param(hang_up, True, id="hangs up"),
        pytest.param(reset, True, id="resets behind the body"),
        pytest.param(half_an_answer, True, id="gives half an answer"),
        pytest.param(answering(502), True, id="a middleman's 502"),
        pytest.param(answering(504), True, id="a middleman's 504"),
        pytest.param(answering(500), False, id="answers 500"),
        pytest.param(answering(503), False, id="answers 503"),
        pytest.param(answering(429), False, id="answers 429"),
    ],
)
async def test_an_answer_is_unknown_only_where_it_may_have_been_a_good_one(
    page: str, kind: Any, behave: Behave, is_unknown: bool
) -> None:
    async with receiving(behave) as [receiver]:
        ack = await attempted(of_files(page), kind(receiver.url()))
    assert isinstance(ack, RetryableFailure)
    assert leaves_answer_unknown(ack) is is_unknown
    assert receiver.lines == 1


@pytest.mark.parametrize("behave", [hang, drip], ids=["hangs", "drips"])
async def test_an_attempt_ends_in_time_and_the_answer_may_have_been_good(page: str, behave: Behave) -> None:
    async with receiving(behave) as [receiver]:
        slow, quick = Timings(submission_ms=5_000), Timings(submission_ms=400)
        for route, timings in ((gateway(receiver.url(), timeout_ms=400), slow), (submissions(receiver.url()), quick)):
            ack = await attempted(of_files(page), route, timings=timings)
            assert isinstance(ack, RetryableFailure)
            assert (ack.error_class, ack.answer_unknown) == (ErrorClass.NETWORK_TIMEOUT, True)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_receiver_that_is_down_got_nothing(page: str, kind: Any) -> None:
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        port = listener.socket.getsockname()[1]
    ack = await attempted(of_files(page), kind(f"http://127.0.0.1:{port}/"))
    assert isinstance(ack, RetryableFailure)
    assert (ack.error_class, ack.answer_unknown) == (ErrorClass.NETWORK_TIMEOUT, False)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_redirect_is_not_followed_and_is_no_success(page: str, kind: Any) -> None:
    async with receiving(answering()) as [other]:
        moved = answering(307, b"", [("Location", other.url())])
        async with receiving(moved) as [receiver]:
            ack = await attempted(of_files(page), kind(receiver.url(), headers={"X-Key": Secret("secret-1")}))
    assert isinstance(ack, PermanentFailure)
    assert ack.http_status == 307
    assert other.lines == 0


async def test_every_attempt_has_a_connection_of_its_own(page: str) -> None:
    async with receiving(in_turn(answering(200), answering(200))) as [receiver]:
        way_out = egress_of_deliveries()
        attempts = Attempts(
            routes=lambda: {a_row().route: gateway(receiver.url())}, way_out=way_out, now=lambda: NOW, environ={}
        )
        for _ in range(2):
            assert isinstance(await attempts(of_files(page)), Accepted)
        await way_out.aclose()
    assert receiver.lines == 2


def egress_of_deliveries() -> httpx.AsyncBaseTransport:
    return egress.transport(allow=anywhere, keep_alive=False)


async def test_a_route_that_was_mended_is_used_at_the_next_attempt(page: str) -> None:
    async with receiving(answering(200)) as [receiver]:
        routes: dict[Any, Route] = {}
        way_out = egress_of_deliveries()
        attempts = Attempts(routes=lambda: routes, way_out=way_out, now=lambda: NOW, environ={})
        row = of_files(page)
        assert isinstance(await attempts(row), PermanentFailure)
        routes[row.route] = gateway(receiver.url())
        assert isinstance(await attempts(row), Accepted)
        await way_out.aclose()


async def test_an_attempt_that_is_cancelled_answers_nothing(page: str) -> None:
    async with receiving(hang) as [receiver]:
        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(attempted, of_files(page), gateway(receiver.url()))
                await receiver.arrived.wait()
                nursery.cancel_scope.cancel()


async def test_a_bug_is_an_answer_too_and_is_read_as_one_that_may_have_arrived(page: str) -> None:
    class Broken(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            raise ZeroDivisionError("invalid payload, duplicate")

    attempts = Attempts(
        routes=lambda: {a_row().route: gateway("http://127.0.0.1:9/")}, way_out=Broken(), now=lambda: NOW, environ={}
    )
    ack = await attempts(of_files(page))
    assert isinstance(ack, RetryableFailure)
    assert (ack.error_class, ack.answer_unknown) == (ErrorClass.INTERNAL_ERROR, True)
    assert "ZeroDivisionError" in ack.error


# --- answers about our own earlier attempt ---

KNOWN_ALREADY = {
    gateway: [
        answering(409),
        answering(200, b'{"status": "duplicate"}'),
        answering(409, b'{"matched_idempotency_key": "%s"}' % KEY.encode()),
    ],
    submissions: [
        answering(409),
        answering(200, b'{"data": {"reused": true, "reuse_reason": "duplicate_existing"}}'),
        answering(
            200,
            b'{"data": {"reused": true, "reuse_reason": "duplicate_existing", "matched_idempotency_key": "%s"}}'
            % KEY.encode(),
        ),
        answering(409, b'{"data": {"matched_idempotency_key": "%s"}}' % KEY.encode()),
    ],
}


@pytest.mark.parametrize(
    ("kind", "behave"), [(kind, behave) for kind, several in KNOWN_ALREADY.items() for behave in several]
)
async def test_after_a_lost_answer_a_receiver_that_knows_us_tells_of_our_own_attempt(
    page: str, kind: Any, behave: Behave
) -> None:
    async with receiving(behave) as [receiver]:
        ack = await attempted(of_files(page), kind(receiver.url()))
    assert isinstance(understood(ack, own_key=KEY, answer_unknown=True), IdempotentReplay)


@pytest.mark.parametrize(
    ("kind", "behave", "expected"),
    [
        (gateway, answering(409, b'{"matched_idempotency_key": "other"}'), DuplicateExisting),
        (submissions, answering(409, b'{"data": {"matched_idempotency_key": "other"}}'), PermanentFailure),
        (submissions, answering(409, b'{"matched_idempotency_key": "other"}'), PermanentFailure),
    ],
)
async def test_a_receiver_that_names_another_key_tells_of_somebody_else(
    page: str, kind: Any, behave: Behave, expected: type
) -> None:
    async with receiving(behave) as [receiver]:
        ack = await attempted(of_files(page), kind(receiver.url()))
    assert isinstance(understood(ack, own_key=KEY, answer_unknown=True), expected)


@pytest.mark.case("delivery", 110)
@pytest.mark.parametrize(("kind", "expected"), [(gateway, DuplicateExisting), (submissions, PermanentFailure)])
async def test_a_conflict_with_a_first_attempt_means_what_it_says(page: str, kind: Any, expected: type) -> None:
    async with receiving(answering(409)) as [receiver]:
        ack = await attempted(of_files(page), kind(receiver.url()))
    assert type(understood(ack, own_key=KEY, answer_unknown=False)) is expected


# --- secrets ---


@pytest.mark.parametrize("kind", KINDS)
async def test_no_credential_is_repeated_from_an_answer_or_an_error(
    page: str, kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told = b'{"status": "weird", "reason": "who is tok-env-1 or plain-key-2, or user-4:word-5?"}'
    headers = {"Authorization": Secret("Bearer ${TOKEN}"), "X-Api-Key": Secret("plain-key-2")}
    async with receiving(answering(503, told)) as [receiver]:
        url = receiver.url("/take?q=${QUERY}").replace("http://", "http://user-4:${WORD}@")
        environ = {"TOKEN": "tok-env-1", "QUERY": "query-3", "WORD": "word-5"}
        acks = [
            await attempted(of_files(page), kind(url, headers=headers), environ=environ),
            await attempted(of_files(page), kind("http://${QUERY}.invalid:9/", headers=headers), environ=environ),
        ]
        [arrival] = receiver.arrivals
    assert arrival.headers["x-api-key"] == "plain-key-2"
    for ack in acks:
        assert not any(secret in str(ack) for secret in ("tok-env-1", "plain-key-2", "query-3", "word-5"))
    assert not any(secret in caplog.text for secret in ("tok-env-1", "plain-key-2", "query-3", "word-5"))


@pytest.mark.parametrize("kind", KINDS)
async def test_what_an_address_carries_as_it_is_written_is_not_repeated_either(page: str, kind: Any) -> None:
    told = b'{"status": "weird", "reason": "no such key as/plain-6 (as%2Fplain-6) of word-5, format json"}'
    async with receiving(answering(503, told)) as [receiver]:
        url = receiver.url("/take?key=as%2Fplain-6&format=json").replace("http://", "http://user-4:word-5@")
        ack = await attempted(of_files(page), kind(url))
    assert not any(secret in str(ack) for secret in ("plain-6", "word-5"))
    assert "format json" in str(ack)


async def test_the_secrets_of_a_gateway_are_not_repeated_either(page: str) -> None:
    told = b'{"status": "rejected", "id": "id of tok-1", "reason": "tok-1 signed by sig-2"}'
    async with receiving(answering(200, told)) as [receiver]:
        route = gateway(receiver.url(), token=Secret("tok-1"), signing_secret=Secret("sig-2"))
        ack = await attempted(of_files(page), route)
    assert not any(secret in str(ack) for secret in ("tok-1", "sig-2"))
    assert "***" in str(ack)


@pytest.mark.parametrize(("kind", "cut"), [(gateway, 500), (submissions, 200)], ids=["a gateway", "submissions"])
@pytest.mark.parametrize("words", ["tok-of-this-route", "https://me:another-word@host/"])
async def test_what_is_left_of_a_credential_where_an_answer_is_cut_is_not_repeated(
    page: str, kind: Any, cut: int, words: str
) -> None:
    told = "x" * (cut - 14) + " " + words
    async with receiving(answering(503, told.encode())) as [receiver]:
        headers = {"Authorization": Secret("Bearer tok-of-this-route")}
        ack = await attempted(of_files(page), kind(receiver.url(), headers=headers))
    assert not any(secret in str(ack) for secret in ("tok-", "https"))


async def test_a_secret_of_the_way_out_is_not_repeated(page: str) -> None:
    async with receiving(answering(503, b"the proxy knows no word-of-proxy")) as [receiver]:
        ack = await attempted(of_files(page), gateway(receiver.url()), hidden=frozenset({"word-of-proxy"}))
    assert "word-of-proxy" not in str(ack)
    assert "the proxy knows no ***" in str(ack)
