"""From the promise to the settled cell: what rows, promises, cells and audit say after real attempts."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pixivflow.config.model import Route
from pixivflow.delivery.model import MAX_ATTEMPTS
from pixivflow.errors import Unavailable
from tests.edges.providers.post import LATER_MS, posting
from tests.edges.providers.receivers import Behave, Receiver, answering, hang, hang_up, in_turn, receiving
from tests.edges.providers.sending import gateway, submissions
from tests.fixtures.deliveries import KEY
from tests.fixtures.works import a_work
from tests.ledger.promising import a_cell

KINDS = [gateway, submissions]

NOT_READY = answering(503)
READY = answering(200)
TAKEN = answering(201, b'{"data": {"status": "pending_review", "review_id": 7, "reused": false}}')


def keys(receiver: Receiver) -> set[str]:
    """The keys of all documents that arrived."""
    return {arrival.headers["x-idempotency-key"] for arrival in receiver.arrivals}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_work_that_is_taken_is_published_and_its_cell_is_done(tmp_path: Path, kind: Any) -> None:
    async with receiving(TAKEN) as [receiver], posting(tmp_path, a=kind(receiver.url())) as post:
        await post.owe("a")
        await post.drain()
        assert await post.states() == ("done", "delivered", "submitted")
        assert await post.events() == ["outbox.claimed", "outbox.delivered"]
    assert receiver.lines == 1


async def test_two_routes_of_one_work_carry_two_keys_and_settle_one_cell(tmp_path: Path) -> None:
    async with (
        receiving(READY, TAKEN) as [hook, desk],
        posting(tmp_path, a=gateway(hook.url()), b=submissions(desk.url())) as post,
    ):
        await post.owe("a", "b")
        await post.drain()
        assert {row["status"] for row in await post.rows("deliveries")} == {"delivered"}
        assert (await post.row("schedule_slot_items"))["status"] == "submitted"
    assert keys(hook) == {KEY}
    assert KEY.replace(":a:", ":b:").encode() in desk.arrivals[0].body


@pytest.mark.case("delivery", 11)
async def test_a_work_whose_file_is_gone_is_not_promised_and_its_cell_keeps_it(tmp_path: Path) -> None:
    async with posting(tmp_path) as post:
        await post.look(a_cell)
        with pytest.raises(Unavailable, match="gone"):
            await post.owe("a", work=a_work(str(tmp_path / "gone.png")))
        assert await post.rows("deliveries") == await post.rows("outbox") == []
        assert (await post.row("schedule_slot_items"))["status"] == "selected"


# --- dead at once ---


@pytest.mark.case("delivery", 36)
async def test_a_route_that_is_not_configured_ends_row_promise_and_cell_at_the_first_attempt(tmp_path: Path) -> None:
    async with posting(tmp_path) as post:
        await post.owe("a")
        await post.drain()
        assert await post.states() == ("dead", "failed", "failed")
        assert (await post.row())["attempts"] == 1
        assert (await post.told())[-1]["error_class"] == "configuration_error"


@pytest.mark.case("delivery", 37)
@pytest.mark.parametrize("kind", KINDS)
async def test_an_unset_variable_in_a_url_ends_the_row_with_its_name(tmp_path: Path, kind: Any) -> None:
    async with posting(tmp_path, a=kind("http://127.0.0.1:9/${X_OF_TEST}")) as post:
        await post.owe("a")
        await post.drain()
        assert await post.states() == ("dead", "failed", "failed")
        assert "X_OF_TEST" in (await post.row())["last_error"]
        assert (await post.row("deliveries"))["last_error"].endswith("(configuration error)")
        assert (await post.told())[-1]["error_class"] == "configuration_error"


@pytest.mark.case("delivery", 38)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_file_deleted_behind_the_promise_ends_row_and_cell(tmp_path: Path, kind: Any) -> None:
    async with receiving(READY) as [receiver], posting(tmp_path, a=kind(receiver.url())) as post:
        await post.owe("a")
        os.unlink(tmp_path / "1.png")
        await post.drain()
        assert await post.states() == ("dead", "failed", "failed")
        assert (await post.told())[-1]["error_class"] == "invalid_payload"
    assert receiver.lines == 0


@pytest.mark.case("delivery", 54)
async def test_a_failed_record_behind_a_good_status_fails_the_cell(tmp_path: Path) -> None:
    told = b'{"data": {"status": "FAILED", "review_id": 1, "reused": true}}'
    async with (
        receiving(answering(200, told)) as [receiver],
        posting(tmp_path, a=submissions(receiver.url())) as post,
    ):
        await post.owe("a")
        await post.drain()
        assert await post.states() == ("done", "failed", "failed")
        assert (await post.row("deliveries"))["remote_status"] == "failed"
        assert "delivery.remote_failed" in await post.events()


@pytest.mark.case("delivery", 110)
@pytest.mark.parametrize(
    ("kind", "states"), [(gateway, ("done", "duplicate", "duplicate")), (submissions, ("dead", "failed", "failed"))]
)
async def test_a_conflict_at_the_first_attempt_means_what_it_says(
    tmp_path: Path, kind: Any, states: tuple[str, str, str]
) -> None:
    async with receiving(answering(409)) as [receiver], posting(tmp_path, a=kind(receiver.url())) as post:
        await post.owe("a")
        await post.drain()
        assert await post.states() == states


# --- tried again ---


@pytest.mark.case("delivery", 35)
async def test_a_408_of_a_receiver_waits_and_is_a_timeout(tmp_path: Path) -> None:
    async with receiving(answering(408)) as [receiver], posting(tmp_path, a=submissions(receiver.url())) as post:
        await post.owe("a")
        await post.drain()
        assert await post.states() == ("retry_wait", "pending", "delivery_pending")
        assert (await post.told())[-1]["error_class"] == "network_timeout"


@pytest.mark.case("delivery", 60)
async def test_a_gateway_that_queues_is_asked_again_under_the_same_key_until_it_has_published(tmp_path: Path) -> None:
    queued = answering(202, b'{"status": "queued"}')
    published = answering(200, b'{"status": "published", "id": "g-1"}')
    async with (
        receiving(in_turn(queued, queued, queued, queued, published)) as [receiver],
        posting(tmp_path, a=gateway(receiver.url())) as post,
    ):
        await post.owe("a")
        await post.drain()
        for attempt in range(1, 5):
            assert (await post.row())["status"] == "retry_wait"
            assert (await post.row())["attempts"] == attempt
            await post.later()
        assert await post.states() == ("done", "delivered", "submitted")
        assert (await post.row("deliveries"))["remote_id"] == "g-1"
        assert (await post.events()).count("outbox.retry_scheduled") == 4
    assert receiver.lines == 5
    assert keys(receiver) == {KEY}
    assert len({arrival.body for arrival in receiver.arrivals}) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lost", [hang_up, answering(502), answering(504)], ids=["hangs up", "502", "504"])
@pytest.mark.parametrize(
    ("second", "states"),
    [
        ("ours", ("done", "delivered", "submitted")),
        ("nobody's", ("done", "delivered", "submitted")),
        ("other's", None),
    ],
)
async def test_after_a_lost_answer_a_conflict_is_our_own_publication_unless_it_names_another_key(
    tmp_path: Path, kind: Any, lost: Behave, second: str, states: tuple[str, str, str] | None
) -> None:
    named = {"ours": {"matched_idempotency_key": KEY}, "nobody's": {}, "other's": {"matched_idempotency_key": "k"}}
    conflict = answering(409, json.dumps({**named[second], "data": named[second]}).encode())
    async with receiving(in_turn(lost, conflict)) as [receiver], posting(tmp_path, a=kind(receiver.url())) as post:
        await post.owe("a")
        await post.drain()
        assert (await post.row())["answer_unknown"] == 1
        await post.later()
        found = await post.states()
    somebody_else = {gateway: ("done", "duplicate", "duplicate"), submissions: ("dead", "failed", "failed")}
    assert found == (states or somebody_else[kind])


async def test_a_receiver_that_hangs_is_given_up_in_time_and_its_answer_is_unknown(tmp_path: Path) -> None:
    replay = answering(200, b'{"status": "duplicate"}')
    async with (
        receiving(in_turn(hang, replay)) as [receiver],
        posting(tmp_path, a=gateway(receiver.url(), timeout_ms=400)) as post,
    ):
        await post.owe("a")
        await post.drain()
        assert (await post.row())["status"] == "retry_wait"
        assert (await post.row())["answer_unknown"] == 1
        post.routes = {name: gateway(receiver.url()) for name in post.routes}
        await post.later()
        assert await post.states() == ("done", "delivered", "submitted")
        assert "delivery.duplicate" in await post.events()
    assert len({arrival.body for arrival in receiver.arrivals}) == 1


async def test_a_duplicate_after_an_answer_that_was_known_is_somebody_else_s(tmp_path: Path) -> None:
    async with (
        receiving(in_turn(NOT_READY, answering(200, b'{"status": "duplicate"}'))) as [receiver],
        posting(tmp_path, a=gateway(receiver.url())) as post,
    ):
        await post.owe("a")
        await post.drain()
        assert (await post.row())["answer_unknown"] == 0
        await post.later()
        assert await post.states() == ("done", "duplicate", "duplicate")


async def test_a_receiver_that_is_down_for_good_ends_the_row_with_its_last_attempt(tmp_path: Path) -> None:
    async with receiving(NOT_READY) as [receiver], posting(tmp_path, a=gateway(receiver.url())) as post:
        await post.owe("a")
        await post.force(attempts=MAX_ATTEMPTS - 1)
        await post.drain()
        assert await post.states() == ("dead", "failed", "failed")


# --- readiness ---


def guarded(desk: Receiver, door: Receiver) -> Route:
    return submissions(desk.url(), readiness_url=door.url("/ready"))


@pytest.mark.case("delivery", 45)
async def test_a_receiver_that_is_not_ready_costs_no_attempt_and_gets_nothing(tmp_path: Path) -> None:
    async with receiving(TAKEN, NOT_READY) as [desk, door], posting(tmp_path, a=guarded(desk, door)) as post:
        await post.owe("a")
        before = await post.row()
        assert await post.drain() == 0
        assert await post.row() == before
        assert (before["status"], before["attempts"]) == ("pending", 0)
    assert desk.lines == 0


@pytest.mark.case("delivery", 46)
async def test_two_looks_within_a_minute_are_told_of_once(tmp_path: Path) -> None:
    async with receiving(TAKEN, NOT_READY) as [desk, door], posting(tmp_path, a=guarded(desk, door)) as post:
        await post.owe("a")
        await post.drain()
        await post.later(50_000)
        [event] = await post.told()
        assert (event["event"], event["detail"]) == ("outbox.deferred", '{"reason":"http_503","status":503}')
        await post.later(20_000)
        assert await post.events() == ["outbox.deferred"] * 2
    assert door.lines == 3


@pytest.mark.case("delivery", 47)
async def test_a_restart_between_two_looks_tells_of_nothing_new(tmp_path: Path) -> None:
    async with receiving(TAKEN, NOT_READY) as [desk, door]:
        kept = tmp_path / "ledger.db"
        async with posting(tmp_path, ledger_in=kept, a=guarded(desk, door)) as post:
            await post.owe("a")
            await post.drain()
        async with posting(tmp_path, ledger_in=kept, at=post.clock, a=guarded(desk, door)) as again:
            await again.later(50_000)
            assert await again.events() == ["outbox.deferred"]
    assert door.lines == 2


@pytest.mark.case("delivery", 48)
async def test_a_receiver_that_becomes_ready_gets_what_waited_as_if_it_had_always_been(tmp_path: Path) -> None:
    async with (
        receiving(TAKEN, in_turn(NOT_READY, READY)) as [desk, door],
        posting(tmp_path, a=guarded(desk, door)) as post,
    ):
        await post.owe("a")
        await post.drain()
        await post.later(10_000)
        assert await post.events() == ["outbox.deferred", "outbox.claimed", "outbox.delivered"]
        assert await post.states() == ("done", "delivered", "submitted")
        assert (await post.row())["attempts"] == 0


@pytest.mark.case("delivery", 49)
async def test_a_receiver_that_sleeps_holds_up_no_other_route_of_the_drain(tmp_path: Path) -> None:
    async with (
        receiving(TAKEN, NOT_READY, READY) as [desk, door, hook],
        posting(tmp_path, a=guarded(desk, door), b=gateway(hook.url())) as post,
    ):
        for _ in range(6):
            await post.owe("a", "b", cell=False)
        assert await post.drain() == 6
        stand = {(row["delivery_target"], row["status"]) for row in await post.rows("outbox")}
        assert stand == {("a", "pending"), ("b", "done")}
    assert hook.lines == 6
    assert door.lines == 1, "asked once in a drain, however many rounds it takes"


@pytest.mark.case("delivery", 50)
async def test_a_gateway_is_not_asked_whether_it_is_ready(tmp_path: Path) -> None:
    async with receiving(READY) as [hook], posting(tmp_path, a=gateway(hook.url())) as post:
        await post.owe("a")
        await post.drain()
        assert await post.states() == ("done", "delivered", "submitted")
    assert [arrival.method for arrival in hook.arrivals] == ["POST"]


async def test_a_row_whose_route_has_gone_fails_visibly_instead_of_waiting(tmp_path: Path) -> None:
    async with receiving(TAKEN, NOT_READY) as [desk, door], posting(tmp_path, a=guarded(desk, door)) as post:
        await post.owe("a")
        await post.drain()
        post.routes.clear()
        await post.later(LATER_MS)
        assert await post.states() == ("dead", "failed", "failed")
