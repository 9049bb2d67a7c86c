"""Who may write to a slot: the holder of a live lease, and nobody beside it."""

from pixivflow.ids import Owner
from pixivflow.slots.model import Slot


def is_live(slot: Slot, now: int) -> bool:
    """Whether somebody owns the slot at `now`. A lease that ends at `now` has ended."""
    return slot.lease_owner is not None and slot.lease_until is not None and slot.lease_until > now


def is_foreign(slot: Slot, owner: Owner | None, now: int) -> bool:
    """Whether a live lease belongs to somebody else. To a caller that names no owner every live lease is foreign."""
    return is_live(slot, now) and slot.lease_owner != owner
