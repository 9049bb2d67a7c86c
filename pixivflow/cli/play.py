"""One round of the demo: a sandbox, a daemon, a trigger over HTTP, and what came of it, read from rows and receipts."""

import hashlib
import json
import secrets
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import trio

from actors.kit import unwrapped
from pixivflow.config.load import load
from pixivflow.daemon.sockets import listening
from pixivflow.daemon.start import prepared
from pixivflow.errors import Unavailable
from pixivflow.ledger.story import Story, story
from pixivflow.sandbox.options import Options
from pixivflow.sandbox.serve import Sandbox, running_sandbox

PLAN: Final = "demo"
LOG: Final = "daemon.log"
TAG: Final = "風景"
READY_S: Final = 30.0
ROUTES: Final = {"channel": "webhook", "archive": "submissions"}
"""Each route, and what the sandbox's receiver calls it."""

Step = Callable[[str], object]


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """What a round did. `receipts`: arrivals at the receivers, by route and idempotency key."""

    story: Story
    receipts: dict[tuple[str, str], int]
    exit_reason: str
    exit_code: int
    duration_ms: int
    directory: Path
    ledger: Path

    @property
    def is_whole(self) -> bool:
        """Whether every cell was submitted and every delivery arrived exactly once."""
        cells = [cell for slot in self.story.slots for cell in slot.cells]
        arrivals = [self.arrived(each.route, each.key) for each in self.story.deliveries]
        return (
            self.exit_code == 0
            and bool(cells)
            and all(cell.status == "submitted" for cell in cells)
            and len(arrivals) == len(ROUTES)
            and all(count == 1 for count in arrivals)
        )

    def arrived(self, route: str, key: str) -> int:
        """How often the receiver of the route saw the key."""
        return self.receipts.get((ROUTES.get(route, ""), key), 0)

    def plain(self) -> dict[str, Any]:
        """As other programs are told."""
        return {
            "slots": [
                {
                    "slotId": slot.id,
                    "status": slot.status,
                    "businessStatus": slot.business_status,
                    "cells": [
                        {"targetId": cell.target_id, "status": cell.status, "workId": cell.work_id}
                        for cell in slot.cells
                    ],
                }
                for slot in self.story.slots
            ],
            "files": [
                {"path": path, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
                for path, content in ((path, Path(path).read_bytes()) for path in self.story.files)
            ],
            "deliveries": [
                {
                    "route": each.route,
                    "workId": each.work_id,
                    "status": each.status,
                    "receipts": self.arrived(each.route, each.key),
                }
                for each in self.story.deliveries
            ],
            "exitReason": self.exit_reason,
            "durationMs": self.duration_ms,
            "directory": f"{self.directory}",
            "ledger": f"{self.ledger}",
        }


async def play(folder: Path, step: Step) -> Played:
    """Play one round in `folder`. `step`: hears what is going on.

    Errors: `Unavailable` when the daemon did not take the trigger.
    """
    began, signing, token = time.monotonic(), secrets.token_hex(16), secrets.token_hex(16)
    step("starting a Pixiv and two receivers")
    async with running_sandbox(Options(sink_secret=signing)) as sandbox:
        path = folder / "config.json"
        path.write_text(json.dumps(configuration(folder, sandbox, signing, token), ensure_ascii=False, indent=2))
        path.chmod(0o600)
        reason, code = await _live(path, token, folder, step)
        receipts = sandbox.service.state.receipts.view()["receipts"]
    ledger = folder / "ledger.db"
    told = story(ledger)
    if told is None:
        raise Unavailable(f"the daemon made no ledger; {folder / LOG} tells why")
    return Played(
        story=told,
        receipts={(each["kind"], each["key"]): each["arrivals"] for each in receipts},
        exit_reason=reason,
        exit_code=code,
        duration_ms=round((time.monotonic() - began) * 1000),
        directory=folder,
        ledger=ledger,
    )


def configuration(folder: Path, sandbox: Sandbox, signing: str, token: str) -> dict[str, Any]:
    """A whole configuration: one target keeps five works of a tag, one delivers the top of the ranking twice."""
    bases = sandbox.endpoints
    return {
        "pixiv": {
            "refreshToken": "rt-rotating",
            "endpoints": {"api": bases.app, "oauth": bases.oauth, "web": bases.web, "image": bases.img},
        },
        "network": {"requestPacingMs": 0},
        "storage": {"databasePath": f"{folder / 'ledger.db'}", "downloadDirectory": f"{folder / 'files'}"},
        "download": {"requestDelay": 0},
        "targets": [
            {"id": "landscapes", "type": "illustration", "tag": TAG, "limit": 5},
            {
                "id": "top",
                "type": "illustration",
                "mode": "ranking",
                "limit": 1,
                "storageMode": "cache",
                "delivery": {"targets": list(ROUTES)},
            },
        ],
        "delivery": {
            "deleteAfterDelivery": False,
            "targets": {
                "channel": {"type": "webhook", "url": f"{sandbox.url}/sink/webhook", "signingSecret": signing},
                "archive": {"type": "httpMultipart", "url": f"{sandbox.url}/sink/submissions"},
            },
        },
        "schedules": [{"id": PLAN, "cron": "* * * * *", "timezone": "UTC", "enabled": True}],
        "schedulerRuntime": {
            "mode": "external",
            "exitWhenIdle": True,
            "idleGraceMs": 0,
            "trigger": {"token": token},
        },
    }


async def _live(path: Path, token: str, folder: Path, step: Step) -> tuple[str, int]:
    environ: dict[str, str] = {}  # what is set for a daemon of the user's own is not meant for this one
    loaded = load(path, environ)
    sockets = listening("127.0.0.1", 0, environ)
    address = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    code = 1
    with ExitStack() as stack:
        for each in sockets:
            stack.callback(each.close)
        log = stack.enter_context((folder / LOG).open("w", encoding="utf-8"))
        daemon = prepared(loaded, sockets, environ, log)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_trigger, address, token, step)
                code = await daemon.live(is_last=False)
                nursery.cancel_scope.cancel()
        except* httpx.TransportError as errors:
            raise Unavailable(f"the daemon could not be reached: {unwrapped(errors)}") from errors
        except* Unavailable as errors:
            if daemon.exit_reason not in signal.Signals.__members__:  # or it answered so since it was told to stop
                raise unwrapped(errors) from None
    return daemon.exit_reason, code


async def _trigger(address: str, token: str, step: Step) -> None:
    """Trigger the plan once the daemon answers. What follows is the daemon's own affair."""
    async with httpx.AsyncClient(trust_env=False, timeout=READY_S) as client:
        step("waiting for the daemon")
        await client.get(f"{address}/health")
        step("triggering the plan over HTTP")
        answer = await client.post(
            f"{address}/internal/schedules/{PLAN}/run", json={}, headers={"Authorization": f"Bearer {token}"}
        )
        if answer.status_code != 202:
            raise Unavailable(f"the daemon answered {answer.status_code} to the trigger")
    step("searching, downloading, delivering; the daemon leaves when nothing is owed")
