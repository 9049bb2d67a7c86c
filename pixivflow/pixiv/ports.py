"""What this edge keeps between two lives of the process; implemented by the ledger."""

from collections.abc import Mapping
from typing import Protocol


class Vault(Protocol):
    """Tokens by their key (table `tokens`). Errors of both: the ledger's."""

    async def read(self, key: str) -> str | None: ...

    async def keep(self, values: Mapping[str, str], now: int) -> None:
        """Write all of `values`, or none of them. Not cut by a cancellation: what they replace may be dead already."""
        ...


class GateRows(Protocol):
    """The state of rate gates by their scope (table `rate_limit_state`). Errors of both: the ledger's."""

    async def load(self, scope: str) -> str | None: ...

    async def save(self, scope: str, state: str, now: int) -> None: ...


class Note(Protocol):
    """Says what happened, for people."""

    def __call__(self, event: str, /, **fields: object) -> None: ...
