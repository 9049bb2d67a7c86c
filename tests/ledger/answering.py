"""`python -m tests.ledger.answering LEDGER NUMBER CONCURRENCY`: a program that answers after each `ledger.write`.

It writes NUMBER rows from CONCURRENCY tasks and prints `ack <name>` for each, by itself, once its write has returned.
SIGTERM ends it in order. With LEDGER_TEST_SYNCHRONOUS=OFF it breaks the ledger's promise on purpose, behind its back.
"""

import os
import signal
import sys
from typing import cast

import trio

from actors.kit import SystemClock
from pixivflow.ledger.ledger import Ledger, open_ledger
from pixivflow.ledger.threaded import ThreadedLedger
from tests.fixtures.ledgers import put

SYNCHRONOUS = "LEDGER_TEST_SYNCHRONOUS"


async def answer(ledger: Ledger, task: int, number: int) -> None:
    for turn in range(number):
        name = await ledger.write(put, f"{task}-{turn}-{os.getpid()}")
        os.write(1, f"ack {name}\n".encode())


async def stop_on_term(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGTERM) as signals:
        os.write(1, b"ready\n")
        async for _ in signals:
            scope.cancel()


async def main(path: str, number: int, concurrency: int) -> None:
    async with trio.open_nursery() as outer:
        outer.start_soon(stop_on_term, outer.cancel_scope)
        async with open_ledger(path, clock=SystemClock()) as ledger:
            if (weaker := os.environ.get(SYNCHRONOUS)) is not None:
                carrier = cast("ThreadedLedger", ledger)._carrier
                await carrier.run(lambda db: db.steer(f"PRAGMA synchronous = {weaker}"))
            os.write(1, b"answering\n")
            async with trio.open_nursery() as nursery:
                for task in range(concurrency):
                    nursery.start_soon(answer, ledger, task, number // concurrency)
        outer.cancel_scope.cancel()


if __name__ == "__main__":
    trio.run(main, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
