"""The sandbox's sink, written by somebody else and strict, takes what is sent, and its answers are understood."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pixivflow.config.mask import Secret
from pixivflow.config.model import Route
from pixivflow.delivery.ack import leaves_answer_unknown
from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    IdempotentReplay,
    OutboxRow,
    PermanentFailure,
    RemoteFailed,
    RetryableFailure,
)
from pixivflow.ids import RouteName
from pixivflow.providers import egress
from pixivflow.providers.addresses import anywhere
from pixivflow.providers.readiness import Readiness
from pixivflow.sandbox.clock import MANUAL_START
from pixivflow.sandbox.options import Options
from pixivflow.sandbox.serve import Sandbox, running_sandbox
from tests.edges.providers.sending import attempted, gateway, of_files, pages, submissions
from tests.edges.sandbox.wire import heard, told
from tests.fixtures.deliveries import KEY

SIGNED = Options(clock="manual", sink_secret="shared")


@asynccontextmanager
async def a_sink(**more: Any) -> AsyncIterator[Sandbox]:
    async with running_sandbox(msgspec.structs.replace(SIGNED, **more)) as sandbox:
        yield sandbox


def hook(sandbox: Sandbox, **options: Any) -> Route:
    return gateway(f"{sandbox.url}/sink/webhook", **{"signing_secret": Secret("shared"), **options})


def desk(sandbox: Sandbox, **options: Any) -> Route:
    return submissions(f"{sandbox.url}/sink/submissions", **options)


ROUTES = {"webhook": hook, "submissions": desk}


async def sent(row: OutboxRow, route: Route) -> Ack:
    return await attempted(row, route, now=MANUAL_START)


async def receipts(sandbox: Sandbox) -> Any:
    return msgspec.json.decode((await heard(sandbox.port, "GET", "/sink/receipts")).body)


@pytest.fixture
def row(tmp_path: Path) -> OutboxRow:
    return of_files(*pages(tmp_path, "71_p0.png", "71_p1.png"))


@pytest.mark.parametrize("kind", ["webhook", "submissions"])
async def test_a_promise_that_is_sent_twice_is_one_effect_and_one_body(row: OutboxRow, kind: str) -> None:
    async with a_sink() as sandbox:
        first, second = [await sent(row, ROUTES[kind](sandbox)) for _ in range(2)]
        book = await receipts(sandbox)
    assert isinstance(first, Accepted)
    assert isinstance(second, DuplicateExisting | IdempotentReplay)
    assert first.remote_id == second.remote_id
    [receipt] = book["receipts"]
    assert (receipt["key"], receipt["arrivals"], len(receipt["bodies"])) == (KEY, 2, 1)
    assert (book["keyless"], book["bad_signature"], book["stale"]) == (0, 0, 0)


@pytest.mark.parametrize("transport", ["reference", "base64"])
async def test_a_signature_holds_for_either_transport(row: OutboxRow, transport: str) -> None:
    async with a_sink() as sandbox:
        assert isinstance(await sent(row, hook(sandbox, media_transport=transport)), Accepted)


async def test_a_wrong_secret_or_an_old_time_is_refused_and_is_no_arrival(row: OutboxRow) -> None:
    async with a_sink() as sandbox:
        wrong = await sent(row, hook(sandbox, signing_secret=Secret("other")))
        old = await attempted(row, hook(sandbox), now=MANUAL_START - 301_000)
        book = await receipts(sandbox)
    assert [type(ack) for ack in (wrong, old)] == [PermanentFailure] * 2
    assert (book["bad_signature"], book["stale"], book["receipts"]) == (1, 1, [])


async def test_a_submission_without_a_key_is_refused(row: OutboxRow) -> None:
    async with a_sink() as sandbox:
        ack = await sent(row, desk(sandbox, auto_idempotency_key=False))
        assert (await receipts(sandbox))["keyless"] == 1
    assert isinstance(ack, PermanentFailure)


@pytest.mark.parametrize(
    ("kind", "shape", "expected"),
    [
        ("webhook", "queued", RetryableFailure),
        ("webhook", "weird", RetryableFailure),
        ("webhook", "failed_200", RemoteFailed),
        ("webhook", "duplicate", DuplicateExisting),
        ("webhook", "duplicate_other", DuplicateExisting),
        ("webhook", "conflict", DuplicateExisting),
        ("webhook", "empty", Accepted),
        ("submissions", "weird", Accepted),
        ("submissions", "failed_200", RemoteFailed),
        ("submissions", "duplicate", DuplicateExisting),
        ("submissions", "duplicate_other", DuplicateExisting),
        ("submissions", "conflict", PermanentFailure),
        ("submissions", "empty", Accepted),
        ("submissions", "fallback", Accepted),
    ],
)
async def test_every_shape_of_an_answer_is_understood(row: OutboxRow, kind: str, shape: str, expected: type) -> None:
    async with a_sink() as sandbox:
        await told(sandbox, "/options", {"sink": {kind: shape}})
        ack = await sent(row, ROUTES[kind](sandbox))
    assert type(ack) is expected
    if shape.startswith("duplicate"):
        assert isinstance(ack, DuplicateExisting)
        assert (ack.matched_key is not None) is (shape == "duplicate_other")


@pytest.mark.parametrize("kind", ["webhook", "submissions"])
@pytest.mark.parametrize(("when", "arrivals"), [("before", 0), ("after", 1)])
@pytest.mark.parametrize("fault", ["reset", "truncate"])
async def test_a_lost_answer_and_a_lost_request_look_the_same_to_us(
    row: OutboxRow, kind: str, when: str, arrivals: int, fault: str
) -> None:
    rule: dict[str, Any] = {"fault": fault, "match": {"kind": "sink"}, "when": when, "count": 1}
    if fault == "truncate":
        rule["args"] = {"after_bytes": 5}
    async with a_sink() as sandbox:
        await told(sandbox, "/faults", [rule])
        ack = await sent(row, ROUTES[kind](sandbox))
        assert sum(each["arrivals"] for each in (await receipts(sandbox))["receipts"]) == arrivals
        again = await sent(row, ROUTES[kind](sandbox))
        [receipt] = (await receipts(sandbox))["receipts"]
    assert isinstance(ack, RetryableFailure)
    assert leaves_answer_unknown(ack)
    assert isinstance(again, Accepted if arrivals == 0 else DuplicateExisting | IdempotentReplay)
    assert len(receipt["bodies"]) == 1


async def test_the_sink_says_whether_it_is_ready() -> None:
    way_out = egress.transport(allow=anywhere, keep_alive=False)
    async with a_sink() as sandbox:
        route = desk(sandbox, readiness_url=f"{sandbox.url}/sink/ready")
        ready = Readiness(routes=lambda: {RouteName("a"): route}, way_out=way_out, now=lambda: 0, environ={})
        assert await ready(RouteName("a")) is None
        await told(sandbox, "/faults", [{"fault": "status", "match": {"kind": "sink"}, "args": {"code": 503}}])
        why = await ready(RouteName("a"))
    assert why is not None
    assert why.reason == "http_503"
    await way_out.aclose()
