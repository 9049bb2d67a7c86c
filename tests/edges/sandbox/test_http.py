"""What the server makes of bytes that come in pieces, in bulk, in part, or not at all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import msgspec
import pytest
import trio

from pixivflow.sandbox import control, doors, http, reading, service
from pixivflow.sandbox.options import Options
from pixivflow.sandbox.serve import Sandbox, running_sandbox
from tests.edges.sandbox.wire import Heard, answer_on, heard, told
from tests.fixtures.sandboxes import MANUAL, PIXIV

READY = b"GET /sink/ready HTTP/1.1\r\nHost: x\r\n\r\n"
HOOK = b'{"schemaVersion":1,"idempotencyKey":"k"}'
HOOKED = b"POST /sink/webhook HTTP/1.1\r\nHost: x\r\nX-Idempotency-Key: k\r\nContent-Length: %d\r\n\r\n" % len(HOOK)
PROFILE = "/img/user-profile/5001_170.jpg"


@asynccontextmanager
async def connected(sandbox: Sandbox) -> AsyncIterator[trio.SocketStream]:
    async with await trio.open_tcp_stream("127.0.0.1", sandbox.port) as stream:
        yield stream


async def receipts(sandbox: Sandbox) -> list[dict[str, object]]:
    answer = await heard(sandbox.port, "GET", "/sink/receipts")
    found: list[dict[str, object]] = msgspec.json.decode(answer.body)["receipts"]
    return found


async def test_a_connection_is_used_again(sandbox: Sandbox) -> None:
    async with connected(sandbox) as stream:
        for _ in range(3):
            await stream.send_all(READY)
            assert (await answer_on(stream)).status == 200


async def test_requests_that_come_at_once_are_answered_in_their_order(sandbox: Sandbox) -> None:
    paths = ["/sink/ready", "/nowhere", "/_ctl/health", "/sink/ready"]
    async with connected(sandbox) as stream:
        await stream.send_all(b"".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for path in paths))
        data = b""
        while data.count(b"HTTP/1.1 ") < 4 or not data.endswith(b"}"):
            data += await stream.receive_some(65_536)
    assert [part[:3] for part in data.split(b"HTTP/1.1 ")[1:]] == [b"200", b"404", b"200", b"200"]


async def test_a_request_may_come_a_byte_at_a_time(sandbox: Sandbox) -> None:
    async with connected(sandbox) as stream:
        for byte in HOOKED + HOOK:
            await stream.send_all(bytes([byte]))
        assert (await answer_on(stream)).status == 200
    assert [each["key"] for each in await receipts(sandbox)] == ["k"]


async def test_who_stops_in_the_middle_of_a_head_is_no_request(sandbox: Sandbox) -> None:
    async with connected(sandbox) as stream:
        await stream.send_all(READY[:20])
        await stream.send_eof()
        answer = await answer_on(stream)
    assert (answer.status, answer.ended) in ((400, "open"), (0, "closed"))
    records = await heard(sandbox.port, "GET", "/_ctl/requests")
    assert msgspec.json.decode(records.body)["requests"] == []


async def test_who_stops_in_the_middle_of_a_body_is_told_so_and_has_not_arrived(sandbox: Sandbox) -> None:
    longer = HOOKED.replace(b"%d" % len(HOOK), b"%d" % (len(HOOK) + 1))
    async with connected(sandbox) as stream:
        await stream.send_all(longer + HOOK)  # a document, and yet not all that was announced
        await stream.send_eof()
        answer = await answer_on(stream)
    assert answer.status == 400
    assert await receipts(sandbox) == []


async def test_who_only_stops_sending_gets_the_answer(sandbox: Sandbox) -> None:
    async with connected(sandbox) as stream:
        await stream.send_all(HOOKED + HOOK)
        await stream.send_eof()
        assert (await answer_on(stream)).status == 200
        assert await stream.receive_some() == b""


async def test_a_body_is_asked_for_when_its_sender_waits_to_be_asked(sandbox: Sandbox) -> None:
    async with connected(sandbox) as stream:
        await stream.send_all(HOOKED.replace(b"Content-Length", b"Expect: 100-continue\r\nContent-Length"))
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 100 ")
        await stream.send_all(HOOK)
        assert (await answer_on(stream)).status == 200


async def test_a_body_may_come_in_chunks_where_no_length_is_promised(sandbox: Sandbox) -> None:
    head = HOOKED.partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n"
    async with connected(sandbox) as stream:
        await stream.send_all(head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(HOOK), HOOK))
        assert (await answer_on(stream)).status == 200


@pytest.mark.parametrize(
    "noise",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: two\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"hello\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_told_so_and_put_out(sandbox: Sandbox, noise: bytes) -> None:
    async with connected(sandbox) as stream:
        await stream.send_all(noise + b"\r\n\r\n")
        answer = await answer_on(stream)
        assert answer.status == 400
        assert await stream.receive_some() == b""
    assert (await heard(sandbox.port, "GET", "/sink/ready")).status == 200


async def test_a_head_without_an_end_is_cut(sandbox: Sandbox) -> None:
    async with connected(sandbox) as stream:
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * (reading.HEAD_BYTES + 1))
        assert (await answer_on(stream)).status == 431


@pytest.mark.parametrize("target", ["*", "http://[", "//", "/%ff%00", "/app/v1/illust/detail?illust_id=%ff", "/?=&;"])
async def test_an_odd_target_is_answered(sandbox: Sandbox, target: str) -> None:
    assert (await heard(sandbox.port, "GET", target)).status in (400, 404)


async def test_a_target_may_name_its_host_as_it_does_for_a_proxy(sandbox: Sandbox) -> None:
    assert (await heard(sandbox.port, "GET", f"http://127.0.0.1:{sandbox.port}/sink/ready")).status == 200


async def test_a_body_that_is_too_large_is_read_to_its_end_and_refused(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "SINK_BYTES", 1_000)
    body = HOOK[:-1] + b" " * 300_000 + b"}"
    headers = {"x-idempotency-key": "k"}
    assert (await heard(sandbox.port, "POST", "/sink/webhook", body, headers)).status == 413
    assert await receipts(sandbox) == []
    assert (await heard(sandbox.port, "POST", "/oauth/auth/token", b" " * (service.BODY_BYTES + 1))).status == 413


async def test_a_body_of_64_mib_is_the_largest_that_the_sink_takes() -> None:
    assert service.SINK_BYTES == 64 * 1024 * 1024


async def test_who_says_nothing_is_put_out_after_a_while(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "IDLE_S", 0.05)
    async with connected(sandbox) as stream:
        await stream.send_all(READY[:20])
        assert await stream.receive_some() == b""


async def test_who_never_sends_the_rest_of_a_body_is_put_out(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PIECE_S", 0.05)
    async with connected(sandbox) as stream:
        await stream.send_all(HOOKED + HOOK[:-1])
        assert (await answer_on(stream)).ended in ("closed", "reset")
    assert await receipts(sandbox) == []


async def test_a_client_that_asks_to_close_is_obeyed(sandbox: Sandbox) -> None:
    async with connected(sandbox) as stream:
        await stream.send_all(READY.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert (await answer_on(stream)).status == 200
        assert await stream.receive_some() == b""


async def test_an_old_client_gets_its_answer_and_the_end(sandbox: Sandbox) -> None:
    async with connected(sandbox) as stream:
        await stream.send_all(b"GET /sink/ready HTTP/1.0\r\n\r\n")
        assert (await answer_on(stream)).status == 200
        assert await stream.receive_some() == b""


async def test_a_head_alone_has_the_length_and_not_the_bytes(sandbox: Sandbox) -> None:
    async with connected(sandbox) as stream:
        await stream.send_all(f"HEAD {PROFILE} HTTP/1.1\r\nHost: x\r\nReferer: {PIXIV['referer']}\r\n\r\n".encode())
        data = await stream.receive_some()
        await stream.send_all(READY)
        assert (await answer_on(stream)).status == 200
    assert b"Content-Length: 4000\r\n" in data
    assert data.endswith(b"\r\n\r\n")


async def test_an_answer_says_neither_the_time_nor_who_serves(sandbox: Sandbox) -> None:
    answer = await heard(sandbox.port, "GET", PROFILE, headers=PIXIV)
    assert set(answer.headers) == {"content-type", "accept-ranges", "etag", "last-modified", "content-length"}


async def test_a_large_picture_goes_out_whole_and_only_as_fast_as_it_is_read(sandbox: Sandbox) -> None:
    await told(sandbox, "/works", {"works": [{"id": 999, "image_bytes": 9_000_000, "create_date": "2026-01-01"}]})
    target = "/img/img-original/img/2026/01/01/00/00/00/999_p0.jpg"
    assert len((await heard(sandbox.port, "GET", target, headers=PIXIV)).body) == 9_000_000
    async with connected(sandbox) as stream:
        await stream.send_all(f"GET {target} HTTP/1.1\r\nHost: x\r\nReferer: {PIXIV['referer']}\r\n\r\n".encode())
        assert (await heard(sandbox.port, "GET", "/sink/ready")).status == 200  # nobody waits for who does not read


async def test_a_bug_is_one_bad_answer_and_a_trace(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(control, "answer", lambda *_: 1 / 0)
        assert (await heard(sandbox.port, "GET", "/_ctl/health")).status == 500
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert (await heard(sandbox.port, "GET", "/_ctl/health")).status == 200


# --- a client of the trade ---


async def test_httpx_is_served_over_one_pool(sandbox: Sandbox) -> None:
    answers = []
    async with httpx.AsyncClient(base_url=sandbox.url, headers=PIXIV) as client, trio.open_nursery() as nursery:

        async def fetch() -> None:
            answers.append(await client.get(PROFILE))

        for _ in range(20):
            nursery.start_soon(fetch)
    assert {(answer.status_code, len(answer.content)) for answer in answers} == {(200, 4_000)}


async def test_httpx_sends_parts_that_the_sink_takes(sandbox: Sandbox) -> None:
    async with httpx.AsyncClient(base_url=sandbox.url) as client:
        for _ in range(2):
            files = [("files", ("1.jpg", b"one")), ("files", ("2.jpg", b"two"))]
            await client.post("/sink/submissions", files=files, data={"idempotency_key": "k", "title": "題"})
    (receipt,) = await receipts(sandbox)
    assert (receipt["arrivals"], len(receipt["bodies"])) == (2, 1)  # type: ignore[arg-type]


# --- the end ---


async def asked(sandbox: Sandbox) -> None:
    """Until a request has arrived."""
    with trio.fail_after(30):
        while not sandbox.service.state.journal.view()["routes"]:
            await trio.lowlevel.checkpoint()


async def test_a_stop_puts_idle_clients_out_and_answers_who_was_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "GRACE_S", 1_000)
    got: list[Heard] = []

    async def fetch(port: int) -> None:
        got.append(await heard(port, "GET", PROFILE, headers=PIXIV))

    late = msgspec.structs.replace(MANUAL, latency_ms=60)
    async with trio.open_nursery() as nursery, running_sandbox(late) as sandbox, connected(sandbox) as idle:
        nursery.start_soon(fetch, sandbox.port)
        await asked(sandbox)
        sandbox.stop()
        assert await idle.receive_some() == b""
    assert got[0].status == 200
    assert (await heard(sandbox.port, "GET", "/sink/ready")).ended == "refused"


async def test_a_stop_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "GRACE_S", 0.05)
    never = msgspec.structs.replace(MANUAL, latency_ms=10**9)
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery, running_sandbox(never) as sandbox:
            nursery.start_soon(heard, sandbox.port, "GET", PROFILE)
            await asked(sandbox)


@pytest.mark.parametrize("act", ["stall", "gate"])
async def test_what_waits_for_its_client_does_not_hold_a_stop(monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    monkeypatch.setattr(doors, "GRACE_S", 1_000)
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery, running_sandbox(MANUAL) as sandbox:
            if act == "stall":
                await told(sandbox, "/faults", [{"fault": "stall", "args": {"after_bytes": 1}}])
            else:
                await told(sandbox, "/gate", {"route": "/img/*", "action": "hold"})
            nursery.start_soon(heard, sandbox.port, "GET", PROFILE)
            await asked(sandbox)


async def test_two_sandboxes_live_beside_each_other_in_one_process() -> None:
    async with running_sandbox(MANUAL) as one, running_sandbox(Options(seed=2)) as other:
        seeds = [await heard(each.port, "GET", "/_ctl/health") for each in (one, other)]
    assert [msgspec.json.decode(answer.body)["seed"] for answer in seeds] == [1, 2]


async def test_what_a_block_raises_comes_out_of_it_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with running_sandbox(MANUAL):
            raise ZeroDivisionError


async def test_an_endpoint_is_where_a_client_is_pointed_at(sandbox: Sandbox) -> None:
    bases = sandbox.endpoints
    assert bases.app == f"http://127.0.0.1:{sandbox.port}/app"
    assert (bases.oauth[-6:], bases.web[-4:], bases.img[-4:]) == ("/oauth", "/web", "/img")
