"""The snapshot of all settings, and its parts by the room that reads them.

Keys of the file are in camel case (`exitWhenIdle`), fields here in snake case with their unit (`timeout_ms` for
`timeout`). Rooms and edges take the small struct they need, never the whole snapshot.
"""

from typing import Literal

import msgspec

from pixivflow.config.mask import Secret
from pixivflow.config.model.accounts import Endpoints, Network, Pixiv, Proxy, is_token
from pixivflow.config.model.files import Download, NovelCover, Storage
from pixivflow.config.model.plans import AccountShare, ResourceGovernance, Schedule, SchedulerRuntime, Trigger
from pixivflow.config.model.routes import AckFields, Capabilities, Delivery, HttpMultipart, Route, Telegram, Webhook
from pixivflow.config.model.targets import FieldValue, NoMatchPolicy, RichNovelPreview, Target, TargetDelivery
from pixivflow.config.model.topics import CandidateCollection, TopicDiscovery, TopicProfile

__all__ = [
    "AccountShare",
    "AckFields",
    "Callbacks",
    "CandidateCollection",
    "Capabilities",
    "Delivery",
    "Download",
    "Endpoints",
    "FieldValue",
    "HttpMultipart",
    "Jobs",
    "LogLevel",
    "Network",
    "NoMatchPolicy",
    "NovelCover",
    "Operations",
    "Pixiv",
    "Proxy",
    "ResourceGovernance",
    "RichNovelPreview",
    "Route",
    "Schedule",
    "SchedulerRuntime",
    "Settings",
    "Storage",
    "Target",
    "TargetDelivery",
    "Telegram",
    "TokenMaintenance",
    "TopicDiscovery",
    "TopicProfile",
    "Trigger",
    "Webhook",
    "is_token",
]

LogLevel = Literal["debug", "info", "warn", "error"]

WEEK_MS = 604_800_000


class Callbacks(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which receivers of job events are spared the rules about addresses: exact host names or IP addresses."""

    allow_hosts: tuple[str, ...] = ()
    allow_http: bool = False


class Jobs(msgspec.Struct, frozen=True, kw_only=True):
    """The surface for other programs' jobs."""

    callbacks: Callbacks = Callbacks()


class TokenMaintenance(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the refresh token is kept alive. Units: milliseconds."""

    enabled: bool = True
    refresh_interval_ms: int = msgspec.field(default=WEEK_MS, name="refreshInterval")
    min_time_before_expiration_ms: int = msgspec.field(default=WEEK_MS, name="minTimeBeforeExpiration")


class Operations(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the daemon says that it cannot work; None: nowhere."""

    notification_url: str | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One snapshot of everything the operator asked for. Never changed; a reload makes a new one.

    Shape: `generation` counts the snapshots of one process from 1. `manual_token` closes the manual-work and job
    routes and comes from the environment alone; empty closes them for everybody.
    Units: `initial_delay_ms` milliseconds.
    """

    generation: int = msgspec.field(default=1, name="_generation")
    manual_token: Secret = msgspec.field(default=Secret(), name="_manualToken")
    schema_version: int = 1
    log_level: LogLevel = "info"
    initial_delay_ms: int = msgspec.field(default=0, name="initialDelay")
    pixiv: Pixiv = Pixiv()
    network: Network = Network()
    storage: Storage = Storage()
    download: Download = Download()
    targets: tuple[Target, ...] = ()
    delivery: Delivery = Delivery()
    schedules: tuple[Schedule, ...] = ()
    scheduler_runtime: SchedulerRuntime = SchedulerRuntime()
    jobs: Jobs = Jobs()
    token_maintenance: TokenMaintenance = TokenMaintenance()
    operations: Operations = Operations()
