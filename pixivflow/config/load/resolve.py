"""What a valid document means: the old forms as new ones, and what one value forces on another."""

from collections.abc import Mapping
from typing import Final

import msgspec

from pixivflow.config.load.document import Document
from pixivflow.config.mask import Secret
from pixivflow.config.model import Settings

IMPLICIT: Final = "default"
"""The plan that the old `scheduler` block is."""

_CRON: Final = "0 3 * * *"


def resolved(used: Mapping[str, object], *, generation: int, manual_token: str) -> Settings:
    """The snapshot of a document that validation let pass.

    Shape: `used` as validation returned it.
    """
    document: Document = {key: value for key, value in used.items() if key != "scheduler"}
    if "schedules" not in document:
        legacy = used.get("scheduler", {})
        plan = {"cron": _CRON, **(legacy if isinstance(legacy, dict) else {}), "id": IMPLICIT}
        document["schedules"] = [plan]
    settings = msgspec.convert(document, Settings, dec_hook=lambda kind, value: kind(value))
    return _forced(settings, generation, Secret(manual_token.strip()))


def _forced(settings: Settings, generation: int, manual_token: Secret) -> Settings:
    runtime, download = settings.scheduler_runtime, settings.download
    external = runtime.mode == "external"
    runtime = msgspec.structs.replace(
        runtime,
        catch_up_missed_runs=runtime.catch_up_missed_runs and not external,
        exit_when_idle=runtime.exit_when_idle and external,
        trigger=msgspec.structs.replace(runtime.trigger, enabled=runtime.trigger.enabled or external),
    )
    download = msgspec.structs.replace(download, min_concurrency=min(download.min_concurrency, download.concurrency))
    return msgspec.structs.replace(
        settings,
        generation=generation,
        manual_token=manual_token,
        scheduler_runtime=runtime,
        download=download,
    )
