"""All that a running sandbox remembers, and how it begins afresh."""

from functools import lru_cache

from pixivflow.sandbox.blocks import generate
from pixivflow.sandbox.clock import Clock, jst_day
from pixivflow.sandbox.faults import Deed, ExpireTokens, RevokeRefresh
from pixivflow.sandbox.fixture import load
from pixivflow.sandbox.gates import Gates
from pixivflow.sandbox.hosts import REAL_BASES, Bases, local_bases
from pixivflow.sandbox.journal import Journal
from pixivflow.sandbox.message import Request
from pixivflow.sandbox.model import World
from pixivflow.sandbox.options import Options
from pixivflow.sandbox.receipts import Receipts
from pixivflow.sandbox.rules import Rules
from pixivflow.sandbox.switches import SinkSwitches, Switches
from pixivflow.sandbox.tokens import Tokens


class State:
    """Everything that a request can change. `port`: the plain one, which answers name.

    Errors: `ConfigError` for a fixture that cannot be taken.
    """

    def __init__(self, options: Options, port: int) -> None:
        self.options = options
        self.gates = Gates()
        self._bases = REAL_BASES if options.real_urls else local_bases(port)
        self._origin = first_world(options)
        self.reset()

    def reset(self) -> None:
        """Back to the start: data, tokens, faults, counters, receipts and clock."""
        options = self.options
        self.clock = Clock(options.clock)
        self.world = self._origin.copy()
        self.tokens = Tokens()
        self.rules = Rules(options.seed)
        self.journal = Journal()
        self.receipts = Receipts()
        self.switches = Switches(token_ttl_s=options.token_ttl_s, sink=SinkSwitches(secret=options.sink_secret))
        self.gates.release_all()

    @property
    def now(self) -> int:
        return self.clock.now_ms()

    def bases(self, request: Request) -> Bases:
        """The addresses that the answer to this request names."""
        return REAL_BASES if request.tls else self._bases

    def do(self, deed: Deed) -> None:
        """Change the service as the deed says."""
        match deed:
            case ExpireTokens():
                self.tokens.expire_all()
            case RevokeRefresh():
                self.tokens.revoke(deed.token)


generated = lru_cache(maxsize=4)(generate)
"""Kept, because a test suite starts hundreds of sandboxes in one world. Nobody changes what is kept."""


def first_world(options: Options) -> World:
    """The world that the options describe."""
    now = Clock(options.clock).now_ms()
    world = generated(options.seed, jst_day(now), options.works, options.page_size).copy()
    if options.fixture is not None:
        load(world, options.fixture, now)
    return world
