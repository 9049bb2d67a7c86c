"""The process around a tree: signals, the stop that cannot be refused, and the exit code.

    SIGHUP ──────────> the configuration is read again
    SIGTERM, SIGINT ─> the watchdog is armed ─> the tree stops in order ─> exit 0
                            │                        │ an actor is wedged: what could be settled is, stacks on stderr,
                            │                        │ exit 0 when the stop was asked for
                            └─ the loop itself is blocked: all stacks on stderr, exit 1
    a child gave up ─> the tree stops in order ─> exit 1

The handler is ours and stays until the very end: with trio's receiver a loop that is blocked would never hear the
signal, and a second signal after the receiver was left would cut the clean-up short.
"""

import faulthandler
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import trio

from actors.kit import GiveUp, Supervisor
from pixivflow.config.texts import redacted

WATCHDOG_S = 6.5
"""From the first signal to the end of the process, whatever it does: the grace, the ledger's closing, a little more."""
IMPATIENT_S = 2.0
"""The same from the second signal on."""


async def live(
    supervisor: Supervisor,
    reload: Callable[[], object] = lambda: None,
    stopped_by: Callable[[str], object] = lambda name: None,
    *,
    is_last: bool = True,
) -> int:
    """Run the tree until it has stopped, by a signal or by itself. The process's exit code.

    Call it in the main thread. `reload`: what SIGHUP asks for. `stopped_by`: hears the name of the signal that ended
    it. `is_last`: the process ends after it, so what is left of its end listens to no signal and is watched. Why a
    tree gave up is one line on stderr.
    """
    with _signals(supervisor, reload, stopped_by, is_last=is_last):
        try:
            await supervisor.run()
        except GiveUp as error:
            print(redacted(f"❌ {error}: {error.__cause__}"), file=sys.stderr)
            return 1
    return 0


def leave_wedged(names: list[str], failed: bool) -> NoReturn:
    """End the process although the actors `names` cannot be ended: what could be settled is on the disk."""
    print(f"❌ cannot be ended: {', '.join(names)}", file=sys.stderr)
    faulthandler.dump_traceback(sys.stderr, all_threads=True)
    sys.stderr.flush()
    os._exit(1 if failed else 0)


@contextmanager
def _signals(
    supervisor: Supervisor, reload: Callable[[], object], stopped_by: Callable[[str], object], *, is_last: bool
) -> Iterator[None]:
    token = trio.lowlevel.current_trio_token()
    heard = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal heard
        heard += 1
        faulthandler.dump_traceback_later(WATCHDOG_S if heard == 1 else IMPATIENT_S, exit=True)
        for deaf in (signal.SIGHUP,) if heard == 1 else handlers:  # a third says nothing new, and a storm would nest
            signal.signal(deaf, signal.SIG_IGN)
        if heard == 1:
            stopped_by(signal.Signals(number).name)
        token.run_sync_soon(supervisor.stop)

    def handle_hangup(number: int, frame: FrameType | None) -> None:
        token.run_sync_soon(reload)

    handlers = {signal.SIGTERM: handle, signal.SIGINT: handle, signal.SIGHUP: handle_hangup}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        if not is_last:
            faulthandler.cancel_dump_traceback_later()
        elif not heard:
            faulthandler.dump_traceback_later(WATCHDOG_S, exit=True)
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if is_last else handler)
