"""The door's sockets: bound here, or taken from whoever held them while nobody was at home."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pixivflow.daemon.sockets import listening
from pixivflow.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]

HANDED = """
import os, socket, sys
from pixivflow.daemon.sockets import FIRST_FD, listening
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
ports = [each.getsockname()[1] for each in held]
high = [os.dup2(each.fileno(), 40 + number) for number, each in enumerate(held)]
for each in held:
    each.close()
for number, descriptor in enumerate(high):
    os.dup2(descriptor, FIRST_FD + number)
environ = {"LISTEN_FDS": "2", "LISTEN_PID": str(os.getpid()), "LISTEN_FDNAMES": "a:b", "KEPT": "1"}
assert [each.getsockname()[1] for each in listening("127.0.0.1", 1, environ)] == ports
assert environ == {"KEPT": "1"}
"""


def test_callers_are_taken_in_before_anybody_serves() -> None:
    (door,) = listening("127.0.0.1", 0, {})
    with door, socket.create_connection(door.getsockname(), timeout=5) as caller:
        assert caller.getpeername() == door.getsockname()


def test_a_door_is_opened_again_while_the_last_life_s_connections_are_remembered() -> None:
    (door,) = listening("127.0.0.1", 0, {})
    port = door.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port), timeout=5) as caller:
        served, _ = door.accept()
        served.close()  # whoever closes first is kept in mind by the system, for a minute
        assert caller.recv(1) == b""
    door.close()
    (again,) = listening("127.0.0.1", port, {})
    with again:
        assert again.getsockname()[1] == port


def test_sockets_that_were_handed_over_are_taken_and_nobody_else_believes_they_are_meant_for_him() -> None:
    done = subprocess.run([sys.executable, "-c", HANDED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "handed",
    [
        pytest.param({"LISTEN_FDS": "1", "LISTEN_PID": f"{os.getpid() + 1}"}, id="to another process"),
        pytest.param({"LISTEN_FDS": "1"}, id="to nobody"),
        pytest.param({"LISTEN_FDS": "x", "LISTEN_PID": f"{os.getpid()}"}, id="in a number that is none"),
        pytest.param({"LISTEN_FDS": "0", "LISTEN_PID": f"{os.getpid()}"}, id="to us, and it was nothing"),
    ],
)
def test_what_was_handed_over_to_somebody_else_is_left_alone(handed: dict[str, str]) -> None:
    (door,) = listening("127.0.0.1", 0, handed)
    with door:
        assert door.getsockname()[0] == "127.0.0.1"
        assert door.fileno() != 3 or os.fstat(3)
    assert handed == {}


def test_a_port_that_somebody_has_is_named_with_its_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1 port {port}") as refused:
            listening("127.0.0.1", port, {})
    assert refused.value.key == "schedulerRuntime.trigger.port"


@pytest.mark.parametrize("host", ["no such host", "203.0.113.1"], ids=["a name that is none", "another machine's"])
def test_a_host_that_is_not_ours_is_named(host: str) -> None:
    with pytest.raises(ConfigError, match=f"cannot listen on {host}"):
        listening(host, 0, {})


def test_a_socket_that_was_announced_and_is_not_there_is_named() -> None:
    code = (
        "import os; from pixivflow.daemon.sockets import listening;"
        "listening('127.0.0.1', 0, {'LISTEN_FDS': '2', 'LISTEN_PID': str(os.getpid())})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].startswith("pixivflow.errors.ConfigError: LISTEN_FDS: '2': descriptor ")
