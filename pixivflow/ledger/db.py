"""The connection that a ledger function gets: what it refuses while the function runs, and what it finds afterwards.

A transaction belongs to whoever runs the function, never to the function. Three things would break that quietly:

- a statement that steers the transaction: the authorizer refuses it (`Guard`);
- going on after SQLite ended the transaction, each statement then committing by itself: refused (`TransactionEnded`);
- a cursor left with unread rows, which pins a snapshot and holds back checkpoints: found and closed (`HalfReadCursor`).
"""

import secrets
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Concatenate, Final, ParamSpec, Protocol, Self, TypeVar
from weakref import ref

P = ParamSpec("P")
T = TypeVar("T")

STEERING: Final = frozenset(
    {
        sqlite3.SQLITE_TRANSACTION,  # BEGIN, COMMIT, ROLLBACK
        sqlite3.SQLITE_SAVEPOINT,  # SAVEPOINT, RELEASE, ROLLBACK TO
        sqlite3.SQLITE_PRAGMA,
        sqlite3.SQLITE_ATTACH,  # VACUUM too
        sqlite3.SQLITE_DETACH,
    }
)
"""What SQLite calls the statements that a ledger function may not use."""


class HalfReadCursor(RuntimeError):
    """A ledger function left a cursor with unread rows, or returned something lazy. A bug: return values instead."""


class TransactionEnded(RuntimeError):
    """A ledger function hid an error that had ended its transaction, or went on after it. A bug: let errors out."""


class Told(Protocol):
    """Something that a function has written, and that is worth a line of the log."""

    def line(self) -> tuple[str, Mapping[str, object]]:
        """The line's name and its fields."""


class Guard:
    """The authorizer: refuses steering statements while `shut`. SQLite asks when one is prepared, not when it runs."""

    def __init__(self) -> None:
        self.shut = False

    def __call__(self, action: int, _a: str | None, _b: str | None, _c: str | None, _d: str | None) -> int:
        return sqlite3.SQLITE_DENY if self.shut and action in STEERING else sqlite3.SQLITE_OK


class Db(sqlite3.Connection):
    """A connection in autocommit (`isolation_level=None`) whose transactions are steered from outside its functions."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.guard = Guard()
        self.set_authorizer(self.guard)
        self.mark = f" -- {secrets.token_hex(8)}"
        """Ends every steering text. The sqlite3 module keeps prepared statements by their text, and a kept one passes
        the authorizer unasked; a text that nobody else can write is kept for us alone."""
        self._handed_out: list[ref[sqlite3.Cursor]] = []
        self._told: list[Told] = []

    def steer(self, statement: str) -> list[Any]:
        """Run one statement that functions may not use; its rows. Errors: `RuntimeError` inside a function."""
        self._refuse_functions()
        return sqlite3.Cursor(self).execute(statement + self.mark).fetchall()

    def call(self, fn: Callable[Concatenate["Db", P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The value of one ledger function, run inside a transaction that the caller steers.

        Errors: whatever `fn` raises; `HalfReadCursor`. Either way no cursor of it stays open, since an open one would
        outlive the transaction.
        """
        self.guard.shut = True
        self._told.clear()
        try:
            value = fn(self, *args, **kwargs)
        except BaseException:
            self._close_cursors()
            raise
        finally:
            self.guard.shut = False
        if self._close_cursors():
            raise HalfReadCursor(f"{name_of(fn)} left a cursor with unread rows")
        if hasattr(value, "__next__") or hasattr(value, "__await__"):
            if hasattr(value, "close"):
                value.close()
            raise HalfReadCursor(f"{name_of(fn)} returned a {type(value).__name__}, to be read after its transaction")
        return value

    def tell(self, what: Told) -> None:
        """To be said outside, should the transaction of the function that runs now reach the disk."""
        self._told.append(what)

    def told(self) -> tuple[Told, ...]:
        """What the last function wants to have said."""
        return tuple(self._told)

    def cursor(self, *_: object) -> "Cursor":  # type: ignore[override]  # the factory that sqlite3 would take is ours
        """A cursor, remembered for as long as it lives."""
        if self.guard.shut and not self.in_transaction:
            raise TransactionEnded("SQLite ended this transaction; what followed would have committed by itself")
        made = new_cursor(self, Cursor)
        self._handed_out.append(ref(made))
        return made

    def execute(self, sql: str, parameters: Any = (), /) -> "Cursor":
        """As in sqlite3, on a remembered cursor. All statements of all functions come by here: nothing may be slow."""
        if self.guard.shut and not self.in_transaction:
            raise TransactionEnded("SQLite ended this transaction; what followed would have committed by itself")
        made = new_cursor(self, Cursor)
        self._handed_out.append(ref(made))
        return run_on(made, sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> "Cursor":
        """As in sqlite3, on a remembered cursor."""
        return self.cursor().executemany(sql, parameters)

    def executescript(self, sql_script: str, /) -> sqlite3.Cursor:
        """As in sqlite3, which commits first. Errors: `RuntimeError` inside a function."""
        self._refuse_functions()
        return super().executescript(sql_script)

    def _refuse_functions(self) -> None:
        if self.guard.shut:
            raise RuntimeError("not authorized: a ledger function does not steer its transaction")

    def _close_cursors(self) -> bool:
        """Close the cursors that outlived their function; whether any had rows to give."""
        unread = False
        for made in self._handed_out:
            if (cursor := made()) is not None:
                unread |= closed_unread(cursor)
        self._handed_out.clear()
        return unread


class Cursor(sqlite3.Cursor):
    """A cursor that runs nothing more for a function whose transaction is over."""

    __slots__ = ()
    connection: Db

    def execute(self, sql: str, parameters: Any = (), /) -> Self:
        """As in sqlite3. Errors: `TransactionEnded` besides."""
        self.connection.cursor()
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Self:
        """As in sqlite3. Errors: `TransactionEnded` besides."""
        self.connection.cursor()
        return super().executemany(sql, parameters)


new_cursor, run_on = sqlite3.Connection.cursor, sqlite3.Cursor.execute


class Wheel:
    """Sets, drops and goes back to one savepoint after the other, quickly; made for one batch."""

    __slots__ = ("back", "drop", "set")

    def __init__(self, db: Db) -> None:
        run = sqlite3.Cursor(db).execute
        self.set = partial(run, "SAVEPOINT job" + db.mark)
        self.drop = partial(run, "RELEASE job" + db.mark)
        self.back = partial(run, "ROLLBACK TO job" + db.mark)


def closed_unread(cursor: sqlite3.Cursor) -> bool:
    """Close `cursor`; whether it still had a row to give."""
    cursor.row_factory = None
    try:
        return cursor.fetchone() is not None
    except sqlite3.Error:
        return False  # closed before, or broken by a rollback: it holds nothing any more
    finally:
        cursor.close()


def name_of(fn: Callable[..., object]) -> str:
    """What to call a function in a message."""
    return getattr(fn, "__qualname__", None) or repr(fn)
