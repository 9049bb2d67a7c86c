"""One row, one attempt, one answer.

The route is looked up by its name in the settings that are in force now, so a route that was mended is used without a
restart. Whatever happens is an ACK, a bug of ours too: a row that raised instead would be tried for ever.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import httpx
import trio

from pixivflow.config.model import HttpMultipart, Route, Webhook
from pixivflow.delivery.faults import Raised, Signal, failed
from pixivflow.delivery.model import Ack, OutboxRow, RowKind
from pixivflow.delivery.payload import Payload, Unreadable, read
from pixivflow.delivery.plan import Unsendable
from pixivflow.errors import ConfigError
from pixivflow.ids import RouteName
from pixivflow.providers.bodies import LocalFault
from pixivflow.providers.exchange import Answer, Call, exchange
from pixivflow.providers.files import Files
from pixivflow.providers.hearing import Said, heard
from pixivflow.providers.http_multipart import submission_call
from pixivflow.providers.multipart_ack import multipart_ack
from pixivflow.providers.reveal import Reveal
from pixivflow.providers.webhook import webhook_call
from pixivflow.providers.webhook_ack import webhook_ack
from pixivflow.times import PRODUCTION, Timings

Parse = Callable[[Said], Ack]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Implements `delivery.ports.Attempt`.

    `routes`: those in force, asked for each attempt. `way_out`: without kept connections. `now`: wall time, epoch ms.
    `hidden`: secrets of the way out, such as a proxy's password.
    """

    routes: Callable[[], Mapping[RouteName, Route]]
    way_out: httpx.AsyncBaseTransport
    now: Callable[[], int]
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    timings: Timings = PRODUCTION
    files: Files = field(default_factory=Files)
    hidden: frozenset[str] = frozenset()

    async def __call__(self, row: OutboxRow) -> Ack:
        """Exactly one network attempt, or none where the row or the route allows none. Errors: none."""
        reveal = Reveal(self.environ, self.hidden, spared=row.idempotency_key)
        try:
            ack = await self._attempted(row, reveal)
        except ConfigError as error:
            ack = failed(_before(Signal.CONFIGURATION, error))
        except (Unreadable, Unsendable) as error:
            ack = failed(_before(Signal.PAYLOAD, error))
        except LocalFault as error:
            ack = failed(_before(Signal.PAYLOAD if error.lasting else Signal.LOCAL, error))
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            ack = failed(Raised(signal=Signal.LOCAL, text=told, bytes_left=True, name=type(error).__name__))
        return reveal.discreet(ack)

    async def _attempted(self, row: OutboxRow, reveal: Reveal) -> Ack:
        prepared = None
        with trio.move_on_after(self.timings.submission_ms / 1000):  # a disk can hang like a receiver
            prepared = await self._prepared(row, reveal)
        if prepared is None:
            raise LocalFault(f"the files could not be read within {self.timings.submission_ms} ms", lasting=False)
        call, parse = prepared
        outcome = await exchange(self.way_out, call)
        return parse(heard(outcome, reveal.masked)) if isinstance(outcome, Answer) else failed(outcome)

    async def _prepared(self, row: OutboxRow, reveal: Reveal) -> tuple[Call, Parse]:
        route = self.routes().get(row.route)
        if row.kind is not RowKind.DELIVERY or route is None:
            raise ConfigError("delivery.targets", row.route, f"this configuration has nowhere to send a {row.kind} to")
        payload: Payload = read(row.payload_json)
        match route:
            case Webhook():
                call = await webhook_call(payload, route, reveal, self.files, self.now())
                return call, lambda said: webhook_ack(said, self.now())
            case HttpMultipart():
                call = await submission_call(payload, route, reveal, self.files, self.timings.submission_ms)
                return call, lambda said: multipart_ack(said, route.ack, self.now())
            case _:
                raise ConfigError(f"delivery.targets.{row.route}.type", "telegram", "this program does not serve it")


def _before(signal: Signal, error: Exception) -> Raised:
    """An error that came before anything was sent."""
    return Raised(signal=signal, text=str(error), bytes_left=False, name=type(error).__name__)
