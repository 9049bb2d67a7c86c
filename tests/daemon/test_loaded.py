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


FIRST_NEED = """
import sys, threading
from pathlib import Path
import trio
from actors.kit import Hooks
from pixivflow.config.load import load
from pixivflow.daemon.program import Program
from pixivflow.ids import RouteName
from pixivflow.times import PRODUCTION

class Told:
    def find_spec(self, name, path=None, target=None):
        if name in ("structlog", "httpx"):
            print(name, "on the loop" if threading.current_thread() is threading.main_thread() else "in a thread")

async def main():
    program = Program(load(Path(sys.argv[1]), {}), [], Hooks(), PRODUCTION, {})
    sys.meta_path.insert(0, Told())
    await program.ground.ready(RouteName("nobody"))
    await program.aclose()

trio.run(main)
"""


def test_what_later_work_needs_is_loaded_in_a_thread_while_the_loop_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FIRST_NEED, f"{written(tmp_path)}"]
    told = subprocess.run(command, capture_output=True, cwd=tmp_path, env=clean(tmp_path), text=True, check=True)
    assert sorted(told.stdout.splitlines()) == ["httpx in a thread", "structlog in a thread"]
