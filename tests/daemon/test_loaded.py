"""What a daemon has loaded when it first answers: told by itself, since clocks tell something else each time."""

import http.client
import json
import subprocess
import sys
from pathlib import Path

from tests.commands.calling import clean, written

LATER = {"httpx", "httpcore", "structlog.dev", "prometheus_client", "watchfiles", "rich", "PIL"}
"""What only later work needs."""


def test_the_first_answer_waits_for_nothing_that_only_later_work_needs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.daemon.loaded", f"{written(tmp_path)}"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=clean(tmp_path), text=True
    ) as child:
        assert child.stdout is not None
        door = http.client.HTTPConnection("127.0.0.1", int(child.stdout.readline()), timeout=60)
        door.request("GET", "/health")
        assert door.getresponse().status == 200
        loaded = set(json.loads(child.stdout.readline()))
        door.close()
        child.terminate()
        assert child.wait(30) == 0
    assert {"trio", "pixivflow.ledger.threaded", "pixivflow.control.server"} <= loaded  # the daemon itself, at work
    assert loaded & LATER == set()
