"""Lines that survive their writer: each one whole write at the end of a file, there as soon as `say` returns."""

import json
import os
import time
from pathlib import Path


class Journal:
    """A file of JSON lines. `durable`: on the disk, not only with the operating system, before `say` returns."""

    def __init__(self, path: Path, *, durable: bool = False) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._durable = durable

    def say(self, kind: str, **fields: object) -> None:
        """One line; `at` is now unless it is told."""
        line = {"kind": kind, "at": time.monotonic_ns(), **fields}
        os.write(self._file, json.dumps(line).encode() + b"\n")
        if self._durable:
            os.fsync(self._file)

    def close(self) -> None:
        """Give the file back."""
        os.close(self._file)
