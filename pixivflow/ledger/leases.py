"""The leases of slots: who may run one, for how long, and until when without a word.

Every change is one conditional statement, so two processes cannot both win and a late word cannot touch a successor's
lease. `now` is an instant of the ledger's lease clock in all of them. No sweep ever frees a lease: one that has ended
is taken over by the next claim.
"""

from pixivflow.ids import Owner, SlotId
from pixivflow.ledger import leaseclock
from pixivflow.ledger.connection import Db
from pixivflow.times import PRODUCTION

CLAIM = """
UPDATE schedule_slots SET lease_owner = :owner, lease_until = :until, heartbeat_at = :now
WHERE id = :id AND (lease_until IS NULL OR lease_until <= :now OR lease_owner = :owner)
"""

BEAT = """
UPDATE schedule_slots SET lease_until = :until, heartbeat_at = :now
WHERE id = :id AND lease_owner = :owner AND status = 'running'
"""

RELEASE = "UPDATE schedule_slots SET lease_owner = NULL, lease_until = NULL WHERE id = :id AND lease_owner = :owner"

RELEASE_ANYBODY = "UPDATE schedule_slots SET lease_owner = NULL, lease_until = NULL WHERE id = ?"


def claim(db: Db, slot_id: SlotId, owner: Owner, now: int, ttl_ms: int = PRODUCTION.slot_lease_ms) -> bool:
    """Take the slot's lease if it is free, has ended, or is `owner`'s already. True when won."""
    return _held(db, CLAIM, slot_id, owner, now, ttl_ms)


def beat(db: Db, slot_id: SlotId, owner: Owner, now: int, ttl_ms: int = PRODUCTION.slot_lease_ms) -> bool:
    """Extend `owner`'s lease on the slot it runs, also one that has ended unclaimed.

    False: the slot is not `owner`'s any more, or a sweep ended it while nobody heard from `owner`.
    """
    return _held(db, BEAT, slot_id, owner, now, ttl_ms)


def _held(db: Db, statement: str, slot_id: SlotId, owner: Owner, now: int, ttl_ms: int) -> bool:
    values = {"id": slot_id, "owner": owner, "now": now, "until": now + ttl_ms}
    won = db.execute(statement, values).rowcount == 1
    if won:
        leaseclock.remember(db, now)
    return won


def release(db: Db, slot_id: SlotId, owner: Owner) -> bool:
    """Give up `owner`'s lease; the last heartbeat stays. False: it was not `owner`'s, and stays whose it was."""
    return db.execute(RELEASE, {"id": slot_id, "owner": owner}).rowcount == 1


def release_whoever_holds(db: Db, slot_id: SlotId) -> None:
    """Free the slot of any lease, for the one event that outranks every run: the work is no longer wanted."""
    db.execute(RELEASE_ANYBODY, (slot_id,))
