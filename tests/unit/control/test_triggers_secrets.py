"""No answer of the run route, no row and no line of a request holds a secret, wherever it came from."""

from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from tests.edges.control.doors import TOKEN, behind
from tests.fixtures.slots import SLOT, put_slot, set_cell
from tests.unit.control.asking import trigger

PLANTED = "Planted-s3cret_0123"


async def test_the_error_of_a_cell_is_answered_without_a_secret_whoever_wrote_its_row(ledger: Ledger) -> None:
    def put(db: Db) -> None:
        put_slot(db, status="failed")
        for target in "ab":
            words = f"KeyError: 'https://me:{PLANTED}@h/x?token={PLANTED}'\nCookie: sid={PLANTED}"
            set_cell(db, SLOT, target, status="failed", last_error=words)

    await ledger.write(put)
    got = await trigger(behind(ledger))
    assert [cell["error"] for cell in got.body["schedule"]["cells"]] == [
        "KeyError: 'https://redacted@h/x?…' Cookie: ***"
    ] * 2


async def test_the_token_that_is_sent_as_a_name_for_people_is_not_kept(ledger: Ledger) -> None:
    assert (await trigger(behind(ledger), f'{{"label": "by {TOKEN}"}}'.encode())).status == 202
    [(name,)] = await ledger.read(lambda db: db.execute("SELECT slot_name FROM schedule_slots").fetchall())
    assert name == "by ***"
