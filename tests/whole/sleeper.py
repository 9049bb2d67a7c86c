"""Whoever holds the listening socket while the daemon sleeps, as a service manager does: it wakes it when one calls.

somebody waits in the backlog ──> a daemon is started with the socket as descriptor 3 ──> it leaves ──> watch again
"""

import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from tests.crash.process import ROOT
from tests.whole.handover import HELD

LOOK_S = 0.2
PATIENCE_S = 60.0


class Sleeper:
    """Holds the socket for as long as its block. `codes`: how each daemon ended. What they say goes into `log`."""

    def __init__(self, config: Path, log: Path, environ: Mapping[str, str]) -> None:
        self.codes: list[int] = []
        self._config, self._log, self._environ = config, log, environ
        self._held = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._held.getsockname()[1]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Sleeper":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._held.close()

    def _watch(self) -> None:
        while not self._over.is_set():
            if select.select([self._held], [], [], LOOK_S)[0]:
                self._wake()

    def _wake(self) -> None:
        """One life. It ends by itself; in the end of the block, by SIGTERM."""
        with self._log.open("ab") as log:
            daemon = subprocess.Popen(
                [sys.executable, "-m", "tests.whole.handover", "scheduler", "--config", str(self._config)],
                cwd=ROOT,
                env={**os.environ, **self._environ, HELD: str(self._held.fileno())},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[self._held.fileno()],
            )
            while daemon.poll() is None:
                if self._over.wait(LOOK_S / 10):
                    daemon.terminate()
                    daemon.wait(PATIENCE_S)
            self.codes.append(daemon.returncode)
