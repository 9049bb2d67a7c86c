"""What the two benches of a standing daemon share: a ledger with a long past, our server, and the smallest one."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter

from pixivflow.ledger.connection import connect_plain
from pixivflow.ledger.migrate import migrate
from pixivflow.times import MINUTE_MS

ENDED_SLOTS = 10_000
READY_S = 60.0
LOOK_S = 0.002
"""Between two tries to connect to a server that is not there yet."""

SLOT = """
INSERT INTO schedule_slots (id, schedule_id, occurrence_at, occurrence_label, target_ids, status, reported_at)
VALUES (:id, 'nightly', :at, :label, '["a"]', 'success', :at)
"""

CELL = """
INSERT INTO schedule_slot_items (slot_id, target_id, work_id, work_type, status)
VALUES (:id, 'a', :work, 'illustration', 'submitted')
"""

BARE = """
import sys
import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from quart_trio import QuartTrio

app = QuartTrio("bare")

@app.get("/health")
async def health() -> dict[str, str]:
    return {"status": "ok"}

config = Config()
config.bind = [f"127.0.0.1:{sys.argv[1]}"]
trio.run(serve, app, config)
"""
"""The least that could answer with the same libraries: no ledger, no actors, no settings."""


def free_port() -> int:
    """A port of the loopback interface that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def ours(folder: Path, port: int) -> list[str]:
    """The command of a daemon that waits for triggers on `port` and keeps its ledger, made here, in `folder`."""
    path = folder / "config.json"
    path.write_text(json.dumps(configuration(folder, port)))
    with closing(connect_plain(folder / "ledger.db")) as db:
        migrate(db)
        db.execute("BEGIN")
        for number in range(ENDED_SLOTS):
            at = (28_000_000 + number) * MINUTE_MS
            row = {"id": f"nightly@{number}", "at": at, "label": f"{number}", "work": f"{100_000 + number}"}
            db.execute(SLOT, row)
            db.execute(CELL, row)
        db.execute("COMMIT")
    return [sys.executable, "-m", "pixivflow", "scheduler", "--config", f"{path}"]


def configuration(folder: Path, port: int) -> dict[str, object]:
    return {
        "pixiv": {"refreshToken": "never-used"},
        "storage": {"databasePath": f"{folder / 'ledger.db'}", "downloadDirectory": f"{folder / 'files'}"},
        "targets": [{"id": "a", "type": "illustration", "tag": "x", "limit": 1}],
        "schedules": [{"id": "nightly", "cron": "0 3 * * *", "timezone": "UTC", "enabled": True}],
        "schedulerRuntime": {
            "mode": "external",
            "exitWhenIdle": False,
            "watchConfig": True,
            "trigger": {"port": port, "token": "a-token-of-this-bench"},
        },
    }


def bare(port: int) -> list[str]:
    """The command of the smallest server."""
    return [sys.executable, "-c", BARE, f"{port}"]


@contextmanager
def serving(command: list[str], port: int) -> Iterator[tuple[int, float]]:
    """The server, from its first 200 on `/health` to the end of the block: its process id, and the seconds it took."""
    began = perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    try:
        while not answers(port):
            if child.poll() is not None or perf_counter() - began > READY_S:
                raise SystemExit(f"{command} did not come up")
            time.sleep(LOOK_S)
        yield child.pid, perf_counter() - began
    finally:
        child.terminate()
        child.wait()


def environment() -> dict[str, str]:
    """Ours, with this tree to be imported and without what would configure a daemon."""
    root = f"{Path(__file__).parents[1]}"
    return {**{key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ}, "PYTHONPATH": root}


def answers(port: int) -> bool:
    """Whether `/health` says 200; False when nobody listens."""
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=READY_S)
    try:
        asking.request("GET", "/health")
        return asking.getresponse().status == 200
    except ConnectionError:
        return False
    finally:
        asking.close()


def tell(result: Mapping[str, object], *, as_json: bool) -> None:
    """The figures: one JSON object and nothing else, or a line each."""
    if as_json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:20} {value}")
