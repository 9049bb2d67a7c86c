"""The kit: what an actor needs to live, be bounded, fail and stop.

    Supervisor.run                      one nursery; starts children in order, stops them in reverse
    ├── foundation (a ledger)           told to stop last: the others settle through it
    ├── any actor(Context)              wait, look, decide, act, settle; its memory is elsewhere
    │   └── BoundedScope                ends with an origin: timeout, shutdown, consumer, lease lost
    └── a nursery of temporary children Context.inner: told to stop and cut together with their host

What if this task dies here?

| who dies | what follows |
| --- | --- |
| an actor | started afresh after a back-off, as its `Kind` says; its next life reads the letters still in its box |
| an actor with a letter in its hands | besides: whoever asked gets `NoAnswer` at once |
| an actor too often | `Budget` spent: everybody is stopped in order, `Supervisor.run` raises `GiveUp` |
| an actor that ignores its stop | cut when the grace is over; its bounded scopes know that this came from above |
| a task wedged in a shield or a thread | it keeps its task and nothing else; after the others `stuck` is called |
| the process | whatever was not written down is found again by the next one; nothing here is memory |

A stop has two steps. First every actor is told, in reverse order, and its bounded scopes end with SHUTDOWN; they settle
in one short shielded write. When the grace is over, what is left is cancelled for real, in one place (`_Keeper.cut`).
Whoever asks an actor that is gone for good hears so at once: its mailbox is closed.

Two hooks reach every actor: `note(event, **fields)` for what happened, `point(name)` for crash tests.
"""

from actors.kit.cancel import BoundedScope, CancelOrigin, Crashed, End, Ended, Finished, run_bounded
from actors.kit.clock import Clock, SystemClock
from actors.kit.context import Context, Hooks, Note, Point
from actors.kit.errors import GiveUp, KitError, NoAnswer, leaves, unwrapped
from actors.kit.mailbox import Asks, Letter, Mailbox
from actors.kit.restart import Budget, Kind
from actors.kit.supervisor import Child, Patience, Supervisor

# fmt: off
__all__ = [
    "Asks", "BoundedScope", "Budget", "CancelOrigin", "Child", "Clock", "Context", "Crashed", "End", "Ended",
    "Finished", "GiveUp", "Hooks", "Kind", "KitError", "Letter", "Mailbox", "NoAnswer", "Note", "Patience", "Point",
    "Supervisor", "SystemClock", "leaves", "run_bounded", "unwrapped",
]
