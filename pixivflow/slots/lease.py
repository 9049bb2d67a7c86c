"""Whether a slot has an owner now. Whose it must be for a change is asked by the statement that makes the change."""

from pixivflow.slots.model import Slot


def is_live(slot: Slot, now: int) -> bool:
    """Whether somebody owns the slot at `now`. A lease that ends at `now` has ended."""
    return slot.lease_owner is not None and slot.lease_until is not None and slot.lease_until > now
