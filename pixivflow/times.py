"""The fixed durations that the program promises, in one struct, and the shapes in which instants are kept.

Outside of `Timings` stand four kinds of numbers, each beside what it is about:

    what a setting says      its default, with the setting; one that replaces a field (the pace, the retries) wins
    how far instants may lie a window, a lead, an age, a wish of somebody else's: a room judges by it, no timer runs
    who waits for whom       within this process, before something is called stuck: an offer, a run that unwinds
    manners towards a socket how long it may idle, or not be read from; and what a library wants to be told

Wall time is epoch milliseconds. Some columns hold UTC text without a zone, to the second (`2026-01-15 03:00:00`); a
text without a zone is always read as UTC, so a host in another timezone sees the same instants.
"""

from datetime import UTC, datetime
from typing import Final

import msgspec

MINUTE_MS: Final = 60_000
DAY_MS: Final = 86_400_000


class Timings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fixed durations, all in milliseconds. Production uses the defaults; `checked` tells what always holds."""

    slot_lease_ms: int = 180_000
    """How long a claimed slot stays ours without a heartbeat; a dead worker blocks its slot no longer than this."""
    heartbeat_ms: int = 30_000
    """Between two heartbeats of a run: six beats a lease, so one stalled loop does not make a healthy run look dead."""
    sweep_ms: int = 60_000
    """Between two ticks of recovery and stall sweep."""
    drain_window_ms: int = 30_000
    """What a cancelled run gets to unwind before it is given up."""
    settle_ms: int = 5_000
    """What a settling write gets inside its shielded scope."""
    outbox_poll_ms: int = 10_000
    """The longest the outbox pump waits without a hint."""
    row_lease_ms: int = 120_000
    """How long a claimed outbox row stays ours without renewal."""
    row_renewal_ms: int = 40_000
    """Between two renewals of an unfinished outbox row."""
    retry_base_ms: int = 30_000
    """The first retry delay of a delivery, before jitter."""
    retry_max_ms: int = 21_600_000
    """The longest retry delay of a delivery."""
    submission_ms: int = 300_000
    """What one submission of files may take; longer than the lease of its row, which is renewed meanwhile."""
    readiness_ms: int = 3_000
    """What a receiver gets to say that it can accept work."""
    deferral_ms: int = 60_000
    """Between two records of a row that waits for its receiver to be ready."""
    clock_sleep_ms: int = 30_000
    """The longest the scheduler sleeps: a clock that was set, or a host that slept, is noticed as soon as this."""
    clock_jump_ms: int = 5_000
    """Wall and monotonic clock further apart than this between two wakes is a jump."""
    gate_interval_ms: int = 1_000
    """Between two requests to Pixiv, where no setting says otherwise."""
    gate_cooldown_ms: int = 60_000
    """What the first limit of an account costs; each further one in a row doubles it."""
    gate_cooldown_max_ms: int = 900_000
    """The longest cool-down of our own making."""
    gate_wish_max_ms: int = 3_600_000
    """No answer parks an account for longer, whatever it asks for."""
    token_margin_ms: int = 60_000
    """An access token with less time left than this is not begun with."""
    login_cooldown_ms: int = 60_000
    """How long a login service that does not serve is left alone."""
    body_ms: int = 10_000
    """What the body of a request may take to come."""
    watch_look_ms: int = 1_000
    """Between two looks at the configuration, also when its folder does not stir."""
    watch_step_ms: int = 500
    """Between two questions of the watching thread whether it is to stop."""
    idle_poll_ms: int = 15_000
    """Between two looks at what is owed."""
    shutdown_grace_ms: int = 4_000
    """What the whole process gets to stop in order; platforms kill after 5 to 10 s."""
    busy_retry_ms: int = 30_000
    """How long a ledger batch that another process keeps out is tried again."""
    storage_retry_ms: int = 30_000
    """Between two tries once the disk was found full several times in a row."""


class TimingsRefused(ValueError):
    """A set of durations that breaks one of the ratios."""


def checked(timings: Timings) -> Timings:
    """`timings` themselves, once their ratios hold.

    A heartbeat lasts at most a quarter of its lease, a renewal at most a third. The first cool-down is no longer than
    the longest, and a step of the watching thread no longer than a look.

    Errors: `TimingsRefused` naming the pair.
    """
    if timings.heartbeat_ms * 4 > timings.slot_lease_ms:
        raise TimingsRefused("heartbeat_ms must be at most a quarter of slot_lease_ms")
    if timings.row_renewal_ms * 3 > timings.row_lease_ms:
        raise TimingsRefused("row_renewal_ms must be at most a third of row_lease_ms")
    if timings.gate_cooldown_ms > timings.gate_cooldown_max_ms:
        raise TimingsRefused("gate_cooldown_ms must be at most gate_cooldown_max_ms")
    if timings.watch_step_ms > timings.watch_look_ms:
        raise TimingsRefused("watch_step_ms must be at most watch_look_ms")
    if any(value <= 0 for value in msgspec.structs.astuple(timings)):
        raise TimingsRefused("every duration must be positive")
    return timings


PRODUCTION = checked(Timings())


def utc_text(at_ms: int) -> str:
    """The instant as UTC text to the second, the shape of the ledger's text columns. 0 -> `1970-01-01 00:00:00`."""
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def from_utc_text(text: str) -> int:
    """Epoch ms of a text that `utc_text` or SQLite's CURRENT_TIMESTAMP wrote, or of ISO text; without a zone it is UTC.

    Errors: `ValueError` for anything that is not an instant.
    """
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return round(instant.timestamp() * 1000)


def iso(at_ms: int) -> str:
    """The instant as ISO text in UTC with milliseconds, the shape of records for people and other programs."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
