"""Where requests may go: judged by address, once, at the connection, whatever the name or the spelling."""

import socket
from collections.abc import Sequence

import httpcore
import httpx
import pytest
import trio

from pixivflow.config.mask import Secret
from pixivflow.config.model import Proxy
from pixivflow.providers import addresses, egress
from pixivflow.providers.addresses import Guard, Refused, anywhere, public_only, resolver
from pixivflow.providers.race import first_of
from tests.edges.providers.receivers import answering, receiving


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.10",
        "0.0.0.0",  # noqa: S104 - to connect to, not to listen on
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "233.252.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%lo",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
    ],
)
def test_an_address_of_this_machine_its_networks_or_a_relay_is_not_public(address: str) -> None:
    assert not public_only(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "172.32.0.1", "210.140.139.155", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1"]
)
def test_an_address_of_the_open_internet_is_public(address: str) -> None:
    assert public_only(address)


@pytest.mark.parametrize(
    "spelling",
    [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "0177.1",
        "0.0.0.0",  # noqa: S104 - to connect to, not to listen on
        "0",
        "localhost",
        "LOCALHOST",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:0:0:1]",
    ],
)
async def test_no_spelling_of_this_machine_reaches_a_server_that_listens_here(spelling: str) -> None:
    async with receiving(answering()) as [receiver]:
        way_out = egress.transport(keep_alive=False)
        request = httpx.Request("GET", f"http://{spelling}:{receiver.port}/")
        with pytest.raises(httpx.ConnectError) as refused:
            await way_out.handle_async_request(request)
        await way_out.aclose()
    assert isinstance(refused.value.__cause__, Refused)
    assert receiver.lines == 0


async def test_a_host_with_one_bad_address_among_good_ones_is_refused() -> None:
    guard = Guard(public_only, says("1.1.1.1", "10.0.0.1"))
    with pytest.raises(Refused, match=r"mixed\.test"):
        await guard.connect_tcp("mixed.test", 80)


async def test_the_connection_goes_to_the_address_that_was_judged_and_not_to_a_second_look_up() -> None:
    """A name that answers a good address to the one who checks and this machine to the one who connects."""
    answers = [["127.0.0.1"], ["127.0.0.2"]]

    async def rebinding(_host: str, _port: int) -> Sequence[str]:
        return answers.pop(0)

    async with receiving(answering(200, b"judged")) as [receiver]:
        guarded = egress.transport(allow=lambda address: address == "127.0.0.1", keep_alive=False, resolve=rebinding)
        request = httpx.Request("GET", f"http://rebinding.test:{receiver.port}/")
        response = await guarded.handle_async_request(request)
        assert await response.aread() == b"judged"
        assert [arrival.headers["host"] for arrival in receiver.arrivals] == [f"rebinding.test:{receiver.port}"]
        with pytest.raises(httpx.ConnectError):
            await guarded.handle_async_request(httpx.Request("GET", f"http://rebinding.test:{receiver.port}/"))
        await guarded.aclose()
    assert answers == []
    assert receiver.lines == 1


async def test_behind_a_proxy_the_name_of_the_target_is_judged_before_the_proxy_hears_it() -> None:
    async with receiving(answering()) as [proxy]:
        for scheme in ("http", "socks5"):
            way_out = egress.transport(
                keep_alive=False, proxy=httpx.Proxy(f"{scheme}://127.0.0.1:{proxy.port}"), resolve=says("192.168.1.1")
            )
            with pytest.raises(httpx.ConnectError) as refused:
                await way_out.handle_async_request(httpx.Request("GET", "http://inside.test/"))
            assert isinstance(refused.value.__cause__, Refused)
            await way_out.aclose()
    assert proxy.lines == 0


async def test_a_proxy_of_the_configuration_may_stand_next_door() -> None:
    async with receiving(answering(200, b"by proxy")) as [proxy]:
        way_out = egress.transport(
            allow=anywhere, keep_alive=False, proxy=httpx.Proxy(f"http://127.0.0.1:{proxy.port}")
        )
        response = await way_out.handle_async_request(httpx.Request("GET", "http://far.test/x"))
        assert await response.aread() == b"by proxy"
        await way_out.aclose()
    assert [arrival.target for arrival in proxy.arrivals] == ["http://far.test/x"]


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving(answering(), answering(200, b"direct")) as [proxy, receiver]:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        way_out = egress.transport(allow=anywhere, keep_alive=False)
        async with httpx.AsyncClient(transport=way_out) as client:
            assert (await client.get(receiver.url())).content == b"direct"
    assert proxy.lines == 0


@pytest.mark.parametrize("host", ["nowhere.invalid", "a..b", "x" * 70, "-"])
async def test_a_name_without_an_address_is_a_failed_connection(host: str) -> None:
    with pytest.raises(httpcore.ConnectError, match="has no address"):
        await Guard(anywhere).addresses(host, 80)


async def test_a_name_that_resolves_to_nothing_is_a_failed_connection() -> None:
    with pytest.raises(httpcore.ConnectError, match="has no address"):
        await Guard(anywhere, says()).addresses("empty.test", 80)


async def test_a_look_up_that_hangs_ends_with_the_connection_s_deadline(autojump_clock: trio.testing.MockClock) -> None:
    async def hanging(_host: str, _port: int) -> Sequence[str]:
        await trio.sleep_forever()
        raise AssertionError

    with pytest.raises(httpcore.ConnectTimeout):
        await Guard(anywhere, hanging).connect_tcp("slow.test", 80, timeout=5)
    assert trio.current_time() == pytest.approx(5)


async def test_names_are_looked_up_in_threads_that_nobody_else_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    real = trio.to_thread.run_sync

    async def watched(*args: object, **options: object) -> object:
        seen.append(options["limiter"])
        return await real(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(trio.to_thread, "run_sync", watched)
    assert await resolver()("localhost", 80)
    assert [type(limiter) for limiter in seen] == [trio.CapacityLimiter]
    assert seen[0] is not trio.to_thread.current_default_thread_limiter()


# --- the race for a connection ---


class Connection(httpcore.AsyncNetworkStream):
    def __init__(self, address: str) -> None:
        self.address, self.closed = address, False

    async def aclose(self) -> None:
        self.closed = True


class Network:
    """Addresses that connect after some seconds, or fail."""

    def __init__(self, **takes_s: float | None) -> None:
        self.takes_s = takes_s
        self.made: list[Connection] = []
        self.asked: list[tuple[str, float]] = []

    async def connect(self, address: str) -> Connection:
        self.asked.append((address, round(trio.current_time(), 2)))
        takes_s = self.takes_s[address]
        if takes_s is None:
            raise httpcore.ConnectError(f"{address} refused")
        await trio.sleep(takes_s)
        made = Connection(address)
        self.made.append(made)
        return made


async def test_an_address_that_does_not_answer_costs_a_head_start_and_not_the_whole_deadline(
    autojump_clock: trio.testing.MockClock,
) -> None:
    network = Network(black_hole=1e9, good=0.01)
    won = await first_of(["black_hole", "good"], network.connect)
    assert isinstance(won, Connection)
    assert won.address == "good"
    assert network.asked == [("black_hole", 0.0), ("good", 0.25)]


async def test_the_next_address_is_tried_at_once_when_one_refuses(autojump_clock: trio.testing.MockClock) -> None:
    network = Network(shut=None, good=0.0)
    won = await first_of(["shut", "good"], network.connect)
    assert isinstance(won, Connection)
    assert network.asked == [("shut", 0.0), ("good", 0.0)]


async def test_the_last_refusal_is_the_error_when_all_refuse(autojump_clock: trio.testing.MockClock) -> None:
    network = Network(one=None, two=None)
    with pytest.raises(httpcore.ConnectError, match="two refused"):
        await first_of(["one", "two"], network.connect)


async def test_two_connections_that_stand_at_the_same_moment_leave_one_open(
    autojump_clock: trio.testing.MockClock,
) -> None:
    network = Network(one=0.5, two=0.25)
    won = await first_of(["one", "two"], network.connect)
    assert [each.closed for each in network.made if each is not won] == [True] * (len(network.made) - 1)
    assert not network.made[network.made.index(won)].closed  # type: ignore[arg-type]


async def test_a_connection_that_stands_as_its_caller_is_cancelled_is_closed(
    autojump_clock: trio.testing.MockClock,
) -> None:
    network = Network(good=0.0)
    with trio.CancelScope() as scope:
        connect = network.connect

        async def then_cancelled(address: str) -> Connection:
            made = await connect(address)
            scope.cancel()
            return made

        await first_of(["good"], then_cancelled)
    assert scope.cancelled_caught
    assert [each.closed for each in network.made] == [True]


def says(*found: str) -> addresses.Resolve:
    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return found

    return resolve


def test_this_system_spells_this_machine_in_many_ways() -> None:
    """What makes the table above worth its lines."""
    assert socket.getaddrinfo("0x7f.1", 80, type=socket.SOCK_STREAM)[0][4][0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("settings", "url", "login"),
    [
        (Proxy(enabled=True, host="10.0.0.1", port=8080), "http://10.0.0.1:8080", None),
        (Proxy(enabled=True, host="p.test", port=1, protocol="socks5"), "socks5://p.test:1", None),
        (Proxy(enabled=True, host="::1", port=1, username="me", password=Secret("pw")), "http://[::1]:1", ("me", "pw")),
    ],
)
def test_a_configured_proxy_is_spelt_as_a_url(settings: Proxy, url: str, login: tuple[str, str] | None) -> None:
    proxy = egress.proxy_of(settings)
    assert proxy is not None
    assert (str(proxy.url), proxy.auth) == (url, login)


def test_a_proxy_that_is_switched_off_is_none() -> None:
    assert egress.proxy_of(Proxy(host="10.0.0.1", port=8080)) is None
