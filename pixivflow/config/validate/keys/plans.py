"""`schedules`, the old `scheduler`, and `schedulerRuntime`."""

from typing import Final

from pixivflow.config.model.plans import SchedulerMode
from pixivflow.config.validate.addresses import host
from pixivflow.config.validate.judges import any_text, choice, clamped, flag, texts, whole
from pixivflow.config.validate.keys.rooms import CRON, QUEUED_MS, STALLED_MS
from pixivflow.config.validate.shape import Group, Leaf, Listed, Named, Node
from pixivflow.config.validate.words import identifier, zone

_PLAN: Final[dict[str, Node]] = {
    "enabled": Leaf(flag()),
    "cron": Leaf(CRON),
    "timezone": Leaf(zone("TIMEZONE_INVALID")),
    "maxExecutions": Leaf(whole(1)),
    "minInterval": Leaf(whole(0)),
    "timeout": Leaf(clamped(1_000)),
    "maxConsecutiveFailures": Leaf(whole(1)),
    "failureRetryDelay": Leaf(whole(0)),
}

SCHEDULER: Final = Group(_PLAN)

SCHEDULES: Final = Listed(
    Group(
        {
            "id": Leaf(identifier("SCHEDULE_ID_INVALID")),
            "name": Leaf(any_text()),
            **_PLAN,
            "targetIds": Leaf(texts("SCHEDULE_TARGET_UNKNOWN")),
        },
        required={"id": "SCHEDULE_ID_INVALID"},
    )
)

TRIGGER: Final = Group(
    {
        "enabled": Leaf(flag()),
        "host": Leaf(host()),
        "port": Leaf(whole(1, 65_535, "TRIGGER_PORT_INVALID")),
        "token": Leaf(any_text()),
        "graceMinutes": Leaf(whole(1, code="TRIGGER_GRACE_INVALID")),
    }
)

RUNTIME: Final = Group(
    {
        "mode": Leaf(choice(SchedulerMode, "SCHEDULER_MODE_INVALID")),
        "catchUpMissedRuns": Leaf(flag()),
        "watchConfig": Leaf(flag()),
        "reloadDebounceMs": Leaf(whole(100, code="RELOAD_DEBOUNCE_INVALID")),
        "queueLimit": Leaf(whole(0, 100, "QUEUE_LIMIT_INVALID")),
        "queuedTimeoutMs": Leaf(QUEUED_MS),
        "stallTimeoutMs": Leaf(STALLED_MS),
        "exitWhenIdle": Leaf(flag()),
        "idleGraceMs": Leaf(whole(0, code="IDLE_GRACE_INVALID")),
        "maxLifetimeMs": Leaf(whole(1, code="MAX_LIFETIME_INVALID")),
        "trigger": TRIGGER,
        "resourceGovernance": Group(
            {
                "pixivAccounts": Named(
                    Group(
                        {"maxConcurrency": Leaf(whole(1, 16, "RESOURCE_GOVERNANCE_INVALID"))},
                        code="RESOURCE_GOVERNANCE_INVALID",
                    ),
                    code="RESOURCE_GOVERNANCE_INVALID",
                )
            },
            code="RESOURCE_GOVERNANCE_INVALID",
        ),
    }
)
