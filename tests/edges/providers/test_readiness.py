"""Whether a receiver takes work now: asked of those that have an address for it, and not more often than needed."""

from collections.abc import Mapping
from typing import Any

import pytest
import trio

from pixivflow.config.mask import Secret
from pixivflow.config.model import Route
from pixivflow.delivery.deferral import Unready
from pixivflow.ids import RouteName
from pixivflow.providers import egress
from pixivflow.providers.addresses import anywhere
from pixivflow.providers.readiness import Readiness
from pixivflow.times import Timings
from tests.edges.providers.receivers import Behave, answering, drip, hang, hang_up, in_turn, receiving
from tests.edges.providers.sending import gateway, submissions
from tests.fixtures.deliveries import NOW

A = RouteName("a")
TIMINGS = Timings()
IMPATIENT = Timings(readiness_ms=300)


class Asking:
    """A `Readiness` whose wall clock the test sets."""

    def __init__(
        self, route: Route | None, environ: Mapping[str, str] | None = None, timings: Timings = TIMINGS
    ) -> None:
        self.at = NOW
        self.way_out = egress.transport(allow=anywhere, keep_alive=False)
        self.ready = Readiness(
            routes=lambda: {} if route is None else {A: route},
            way_out=self.way_out,
            now=lambda: self.at,
            environ=environ or {},
            timings=timings,
        )


async def asked(route: Route | None, **options: Any) -> Unready | None:
    asking = Asking(route, **options)
    try:
        return await asking.ready(A)
    finally:
        await asking.way_out.aclose()


async def met(behave: Behave, **options: Any) -> Unready | None:
    async with receiving(behave) as [receiver]:
        return await asked(submissions("http://127.0.0.1:9/", readiness_url=receiver.url()), **options)


@pytest.mark.parametrize("status", [200, 204, 299])
async def test_a_receiver_that_answers_well_is_ready(status: int) -> None:
    assert await met(answering(status)) is None


@pytest.mark.parametrize("status", [301, 404, 429, 503])
async def test_any_other_answer_is_a_no_by_its_number(status: int) -> None:
    assert await met(answering(status)) == Unready(reason=f"http_{status}", status=status)


@pytest.mark.parametrize("behave", [hang, drip], ids=["hangs", "drips"])
async def test_a_receiver_that_does_not_answer_in_time_is_not_ready(behave: Behave) -> None:
    assert await met(behave, timings=IMPATIENT) == Unready(reason="timeout")


async def test_a_receiver_that_breaks_off_or_is_not_there_is_not_ready() -> None:
    assert await met(hang_up) == Unready(reason="connection_refused")
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        port = listener.socket.getsockname()[1]
    gone = submissions("http://127.0.0.1:9/", readiness_url=f"http://127.0.0.1:{port}/")
    assert await asked(gone) == Unready(reason="connection_refused")


async def test_the_question_carries_no_credential_and_its_address_is_filled() -> None:
    async with receiving(answering()) as [receiver]:
        route = submissions(
            "http://127.0.0.1:9/",
            readiness_url=receiver.url("/${PLACE}"),
            headers={"Authorization": Secret("Bearer t"), "X-Key": Secret("k")},
        )
        assert await asked(route, environ={"PLACE": "ready"}) is None
        [arrival] = receiver.arrivals
    assert (arrival.method, arrival.target) == ("GET", "/ready")
    assert not {"authorization", "x-key"} & arrival.headers.keys()


@pytest.mark.parametrize(
    "route",
    [
        pytest.param(None, id="unknown"),
        pytest.param(gateway("http://127.0.0.1:9/"), id="a gateway"),
        pytest.param(submissions("http://127.0.0.1:9/"), id="without an address for it"),
        pytest.param(submissions("http://127.0.0.1:9/", readiness_url="  "), id="a blank address"),
        pytest.param(submissions("http://127.0.0.1:9/", readiness_url="${NOT_SET}"), id="a variable that is not set"),
    ],
)
async def test_a_route_that_cannot_be_asked_is_ready_so_that_its_rows_fail_where_people_look(
    route: Route | None,
) -> None:
    assert await asked(route) is None


async def test_a_no_holds_for_half_a_poll_and_a_yes_for_nothing() -> None:
    no, yes = answering(503), answering(200)
    async with receiving(in_turn(no, yes, yes, no)) as [receiver]:
        asking = Asking(submissions("http://127.0.0.1:9/", readiness_url=receiver.url()))
        assert await asking.ready(A) is not None
        asking.at += TIMINGS.outbox_poll_ms // 2 - 1
        assert await asking.ready(A) is not None
        assert receiver.lines == 1
        asking.at += 1
        assert await asking.ready(A) is None
        assert await asking.ready(A) is None
        assert await asking.ready(A) is not None
        assert receiver.lines == 4
        await asking.way_out.aclose()


async def test_a_no_of_one_route_says_nothing_about_another() -> None:
    async with receiving(answering(503), answering(200)) as [asleep, awake]:
        asking = Asking(submissions("http://127.0.0.1:9/", readiness_url=asleep.url()))
        assert await asking.ready(A) is not None
        assert await asking.ready(RouteName("b")) is None
        await asking.way_out.aclose()
    assert awake.lines == 0


async def test_a_clock_that_was_set_back_does_not_keep_a_receiver_waiting() -> None:
    async with receiving(in_turn(answering(503), answering(200))) as [receiver]:
        asking = Asking(submissions("http://127.0.0.1:9/", readiness_url=receiver.url()))
        assert await asking.ready(A) is not None
        asking.at -= 3_600_000
        assert await asking.ready(A) is None
        await asking.way_out.aclose()
