"""The ways out of a daemon, as they are joined."""

from actors.kit.testing import VirtualClock
from pixivflow.config.mask import Secret
from pixivflow.config.model import Network, Proxy, Settings
from pixivflow.daemon.outside import to_receivers
from pixivflow.times import PRODUCTION


async def test_no_attempt_repeats_the_password_of_the_proxy_that_it_went_through() -> None:
    proxy = Proxy(enabled=True, host="127.0.0.1", port=9, username="me", password=Secret("${PROXY_WORD}"))
    ways = to_receivers(
        Settings(network=Network(proxy=proxy)),
        dict,
        clock=VirtualClock(),
        environ={"PROXY_WORD": "word-of-proxy"},
        timings=PRODUCTION,
    )
    await ways.aclose()
    assert "word-of-proxy" in ways.attempt.hidden
