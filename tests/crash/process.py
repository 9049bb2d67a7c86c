"""A process under our hand: started, asked to stop, killed, frozen and thawed by its id, each written down."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.crash.journal import Journal

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0


def _now() -> dict[str, int]:
    return {"at": time.monotonic_ns(), "wall_ms": time.time_ns() // 1_000_000}


class Process:
    """`python -m <module> <arguments>`, run in the tree that this file belongs to. Ended with the block it stands in.

    `under`: a command that runs it and keeps out of its way. `port` is what it said with READY, None when it died
    before that. Its outputs go into files of `folder`.
    """

    def __init__(
        self, module: str, arguments: Sequence[str], *, folder: Path, name: str, journal: Journal,
        environ: Mapping[str, str] | None = None, under: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.journal = journal
        self.outputs = {f"{name}.{stream}": folder / f"{name}.{stream}" for stream in ("stdout", "stderr")}
        self._stderr = self.outputs[f"{name}.stderr"].open("wb")
        self._stdout = self.outputs[f"{name}.stdout"].open("wb")
        self._child = subprocess.Popen(
            [*under, sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env={**os.environ, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )
        self.pid = self._child.pid
        self._frozen: dict[str, int] = {}
        self._told = False
        self._seen = _now()
        self.port = self._ready()

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        if self.alive():
            self.kill()
        assert self._child.stdout is not None
        self._stdout.write(self._child.stdout.read())
        for stream in (self._child.stdout, self._stdout, self._stderr):
            stream.close()

    def alive(self) -> bool:
        """Whether it runs. A death by itself, at a crash point, is written down when it is first seen."""
        now = _now()
        if self._child.poll() is None:
            self._seen = now
            return True
        if not self._told:
            self._say("KILL" if self._child.returncode == -signal.SIGKILL else "EXIT", self._seen)
        return False

    def kill(self) -> None:
        """SIGKILL, also of a frozen one."""
        at = _now()
        self._child.kill()
        self._child.wait(PATIENCE_S)
        if not self._told:
            self._say("KILL", at)

    def stop(self) -> int:
        """SIGTERM and wait for the end. The exit code; -9 when it had to be killed."""
        at = _now()
        self._child.terminate()
        try:
            self._child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait(PATIENCE_S)
        if not self._told:
            self._say("TERM", at)
        return self._child.returncode

    def stop_or_kill(self, within_s: float) -> None:
        """SIGTERM, and SIGKILL when it has not ended `within_s`: the patience of a platform."""
        at = _now()
        self._child.terminate()
        try:
            self._child.wait(within_s)
        except subprocess.TimeoutExpired:
            self.kill()
        if not self._told:
            self._say("TERM", at)

    def freeze(self) -> None:
        """SIGSTOP; stands still when this returns."""
        self._frozen = _now()
        self._child.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        self._frozen["wall_ms"] = _now()["wall_ms"]  # nothing of its own is younger

    def thaw(self) -> None:
        """SIGCONT."""
        self._melt()
        self._child.send_signal(signal.SIGCONT)

    def _melt(self) -> None:
        if self._frozen:
            until = time.monotonic_ns()
            self.journal.say("stopped", pid=self.pid, signal="FREEZE", **self._frozen, until=until, code=None)
            self._frozen = {}

    def _say(self, what: str, since: Mapping[str, int]) -> None:
        self._melt()
        self._told = True
        until, code = time.monotonic_ns(), self._child.returncode
        self.journal.say("stopped", pid=self.pid, signal=what, **since, until=until, code=code)

    def _ready(self) -> int | None:
        """The port behind READY. Errors: `TimeoutError` with the process killed."""
        assert self._child.stdout is not None
        heard = b""
        limit = time.monotonic() + PATIENCE_S
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdout, selectors.EVENT_READ)
            while b"READY " not in heard or not heard.endswith(b"\n"):
                if not selector.select(max(0.0, limit - time.monotonic())):
                    self.kill()
                    raise TimeoutError(f"{self._child.args!r} was not ready after {PATIENCE_S} s")
                more = os.read(self._child.stdout.fileno(), 65_536)
                if not more:
                    self._child.wait(PATIENCE_S)
                    self.alive()
                    return None
                heard += more
        self._stdout.write(heard)
        return int(heard.partition(b"READY ")[2].split()[0])
