"""The sandbox as a process: what it prints, and how it ends."""

import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from pixivflow.errors import ConfigError
from pixivflow.sandbox.options import Options
from pixivflow.sandbox.serve import running_sandbox

PROGRAM = "from pixivflow.sandbox.serve import main; from pixivflow.sandbox.options import Options; main(Options({}))"


@contextmanager
def started(options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """The process, and the lines that it printed up to READY."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM.format(options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said: dict[str, str] = {}
        try:
            while "READY" not in said:
                word, _, rest = process.stdout.readline().strip().partition(" ")
                assert word, process.stderr and process.stderr.read()
                said[word] = rest
            yield process, said
        finally:
            process.kill()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_and_leaves_in_order_when_told(how: signal.Signals) -> None:
    with started("tls_port=0") as (process, said):
        assert list(said) == ["TLS", "CA", "READY"]
        assert Path(said["CA"]).read_text().startswith("-----BEGIN CERTIFICATE-----\n")
        with urllib.request.urlopen(f"http://127.0.0.1:{said['READY']}/sink/ready", timeout=30) as answer:
            assert answer.status == 200
        process.send_signal(how)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")
    assert not Path(said["CA"]).parent.exists()


def test_without_tls_it_says_one_line() -> None:
    with started("") as (_, said):
        assert list(said) == ["READY"]


async def test_a_port_that_somebody_has_is_named() -> None:
    async with running_sandbox() as first:
        for options in (Options(port=first.port), Options(tls_port=first.port)):
            with pytest.raises(ConfigError, match=str(first.port)):
                async with running_sandbox(options):
                    pass


async def test_a_port_can_be_had_again_at_once() -> None:
    async with running_sandbox() as first, await trio.open_tcp_stream("127.0.0.1", first.port) as stream:
        await stream.send_all(b"GET /sink/ready HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await stream.receive_some()
    async with running_sandbox(Options(port=first.port)) as second:
        assert second.port == first.port
