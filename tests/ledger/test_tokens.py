"""The rows of an account survive and replace each other by their keys."""

import pytest

from actors.kit.testing import VirtualClock
from pixivflow.ledger import tokens
from pixivflow.ledger.connection import Db
from pixivflow.ledger.ledger import Ledger
from tests.fixtures.ledgers import transaction

NOW = 1_768_446_000_000


def test_tokens_are_written_together_and_the_newest_stands(db: Db) -> None:
    with transaction(db):
        tokens.keep(db, {"a": "1", "b": "2"}, NOW)
        tokens.keep(db, {"a": "3"}, NOW + 1_000)
    assert [tokens.read(db, key) for key in ("a", "b", "c")] == ["3", "2", None]
    assert db.execute("SELECT updated_at FROM tokens WHERE key = 'a'").fetchall() == [("2026-01-15 03:00:01",)]


def test_a_gate_keeps_one_state_a_scope(db: Db) -> None:
    with transaction(db):
        tokens.save_gate(db, "default", '{"penaltyLevel":1}', NOW)
        tokens.save_gate(db, "default", '{"penaltyLevel":2}', NOW)
        tokens.save_gate(db, "other", "{}", NOW)
    assert tokens.load_gate(db, "default") == '{"penaltyLevel":2}'
    assert tokens.load_gate(db, "nobody") is None


async def test_what_an_account_keeps_is_there_in_the_next_life(ledger: Ledger) -> None:
    rows = tokens.AccountRows(ledger)
    await rows.keep({"pixiv_access_token": "{}"}, VirtualClock().now_ms())
    await rows.save("default", "{}", NOW)
    again = tokens.AccountRows(ledger)
    assert await again.read("pixiv_access_token") == "{}"
    assert await again.load("default") == "{}"


def test_a_state_that_is_no_json_is_refused(db: Db) -> None:
    with pytest.raises(Exception, match="CHECK"), transaction(db):
        tokens.save_gate(db, "default", "{", NOW)
