"""The rows of an account: its tokens, and how it stands with Pixiv's limits."""

from collections.abc import Mapping
from typing import Final

from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.times import utc_text

KEEP: Final = """
INSERT INTO tokens (key, value, updated_at) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
"""

SAVE: Final = """
INSERT INTO rate_limit_state (scope, state, updated_at) VALUES (?, ?, ?)
ON CONFLICT (scope) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at
"""


def read(db: Db, key: str) -> str | None:
    """The value under `key`, None without one."""
    rows = db.execute("SELECT value FROM tokens WHERE key = ?", (key,)).fetchall()
    return rows[0][0] if rows else None


def keep(db: Db, values: Mapping[str, str], now: int) -> None:
    """Write all of `values`, each in the place of what stood under its key."""
    for key, value in values.items():
        db.execute(KEEP, (key, value, utc_text(now)))


def load_gate(db: Db, scope: str) -> str | None:
    """The state of a gate as it was saved, None without one."""
    rows = db.execute("SELECT state FROM rate_limit_state WHERE scope = ?", (scope,)).fetchall()
    return rows[0][0] if rows else None


def save_gate(db: Db, scope: str, state: str, now: int) -> None:
    """Write the state of a gate, JSON."""
    db.execute(SAVE, (scope, state, now))


class AccountRows:
    """`pixiv.ports.Vault` and `pixiv.ports.GateRows`, over a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def read(self, key: str) -> str | None:
        return await self._ledger.read(read, key)

    async def keep(self, values: Mapping[str, str], now: int) -> None:
        await self._ledger.settle(keep, values, now)

    async def load(self, scope: str) -> str | None:
        return await self._ledger.read(load_gate, scope)

    async def save(self, scope: str, state: str, now: int) -> None:
        await self._ledger.write(save_gate, scope, state, now)
