"""What delivery needs from outside: somebody who makes one attempt."""

from typing import Protocol

from pixivflow.delivery.model import Ack, OutboxRow


class Attempt(Protocol):
    """Exactly one network attempt at a row, sent from its frozen payload and under its promise's key.

    Whatever becomes of the request is an ACK, a lost connection too (`faults.failed` makes one of an exception). An
    attempt that is cancelled answers nothing: its row stays leased, and the same is sent again when the lease ends. It
    knows no ledger, tries nothing twice, and raises only for a bug.
    """

    async def __call__(self, row: OutboxRow) -> Ack: ...
