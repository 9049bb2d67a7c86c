"""Whether this process may mount a small file system of its own, and the word of it in the report of every run.

The test of a disk that is really full exists only where it can be made. Elsewhere the report says that it did not run:
a test that vanishes without a word is missed by nobody.
"""

import shutil
import subprocess
from functools import cache

import pytest

ON_A_TMPFS = "tests/ledger/test_core_disk.py fills a tmpfs of its own"
NOT_HERE = "tests/ledger/test_core_disk.py fills no tmpfs: this process may not mount one, only a page limit was tried"


@cache
def may_mount() -> bool:
    """Whether `unshare --mount` is there and allowed."""
    unshare = shutil.which("unshare")
    return unshare is not None and subprocess.run([unshare, "--mount", "true"], capture_output=True).returncode == 0


def word(may: bool) -> str:
    """What the report says of it."""
    return f"full disk: {ON_A_TMPFS if may else NOT_HERE}"


def pytest_report_header(config: pytest.Config) -> str:
    """Among what the run says of itself first."""
    return word(may_mount())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """And last, where nobody overlooks what did not run."""
    if not may_mount():
        terminalreporter.write_line(word(may=False), yellow=True)
