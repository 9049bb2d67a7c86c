"""How loud each event is. Whatever is not listed is `info`."""

from collections.abc import Mapping
from typing import Final, Literal

Level = Literal["debug", "info", "warn", "error"]

RANKS: Final[Mapping[str, int]] = {"debug": 10, "info": 20, "warn": 30, "error": 40}

LEVELS: Final[Mapping[str, Level]] = {
    "actor.cut": "warn",
    "actor.failed": "error",
    "actor.given_up": "error",
    "actor.restarting": "warn",
    "actor.stopping": "debug",
    "clock.jump": "warn",
    "config.rejected": "error",
    "config.restart_needed": "error",
    "config.unwatched": "warn",
    "config.warned": "warn",
    "control.connection_failed": "warn",
    "control.failed": "error",
    "control.status_failed": "warn",
    "delivery.late_ack": "warn",
    "delivery.remote_failed": "error",
    "idle.look_failed": "error",
    "lane.failed": "error",
    "ledger.cut": "warn",
    "ledger.damaged": "error",
    "ledger.exposed": "warn",
    "ledger.hung": "error",
    "ledger.lost": "error",
    "ledger.set_aside": "error",
    "ledger.sqlite_old": "warn",
    "ledger.unchecked": "warn",
    "media.fallback": "warn",
    "outbox.claimed": "debug",
    "outbox.dead": "error",
    "outbox.deferred": "warn",
    "outbox.retry_scheduled": "warn",
    "pump.before_failed": "error",
    "pump.pass_failed": "error",
    "recovery.failed": "error",
    "recovery.refused": "warn",
    "run.abandoned": "warn",
    "run.failed": "error",
    "run.late": "warn",
    "schedule.journal_failed": "error",
    "schedule.open_failed": "error",
    "schedule.refused": "warn",
    "schedule.trigger_error": "error",
    "schedule.trigger_failed": "error",
    "schedule.trigger_not_found": "warn",
    "schedule.trigger_rejected": "warn",
    "schedule.trigger_unauthorized": "warn",
    "stall.ended": "warn",
    "stall.failed": "error",
    "sweep.failed": "error",
    "tree.stuck": "error",
}


def level_of(event: str) -> Level:
    """The level of an event by its name."""
    return LEVELS.get(event, "info")
