"""The whole document."""

from typing import Final

from pixivflow.config.model import LogLevel
from pixivflow.config.validate.addresses import hosts, url
from pixivflow.config.validate.judges import choice, flag, whole
from pixivflow.config.validate.keys.accounts import NETWORK, PIXIV
from pixivflow.config.validate.keys.files import DOWNLOAD, STORAGE
from pixivflow.config.validate.keys.plans import RUNTIME, SCHEDULER, SCHEDULES
from pixivflow.config.validate.keys.routes import DELIVERY
from pixivflow.config.validate.keys.targets import TARGETS
from pixivflow.config.validate.shape import Group, Leaf

DOCUMENT: Final = Group(
    {
        "schemaVersion": Leaf(whole(0, 1, "SCHEMA_VERSION_INVALID")),
        "logLevel": Leaf(choice(LogLevel, "LOG_LEVEL_INVALID")),
        "initialDelay": Leaf(whole(0)),
        "pixiv": PIXIV,
        "network": NETWORK,
        "storage": STORAGE,
        "download": DOWNLOAD,
        "targets": TARGETS,
        "delivery": DELIVERY,
        "scheduler": SCHEDULER,
        "schedules": SCHEDULES,
        "schedulerRuntime": RUNTIME,
        "jobs": Group(
            {"callbacks": Group({"allowHosts": Leaf(hosts("CALLBACK_HOST_INVALID")), "allowHttp": Leaf(flag())})}
        ),
        "tokenMaintenance": Group(
            {
                "enabled": Leaf(flag()),
                "refreshInterval": Leaf(whole(1)),
                "minTimeBeforeExpiration": Leaf(whole(0)),
            }
        ),
        "operations": Group({"notificationUrl": Leaf(url("FIELD_INVALID"))}),
    },
    required={"targets": "TARGETS_REQUIRED"},
)
