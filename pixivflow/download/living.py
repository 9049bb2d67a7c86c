"""Who may touch a part: a part that is being written is locked by its writer, until it is closed or its process dies.

So two processes on the same folders, a daemon and a download by hand, never remove or continue what the other one is
writing, however old its row is. Where a file system has no locks the rows alone protect a part: one that has none yet
may be lost to the start of another process, and is fetched again.

Blocking: call it in a thread.
"""

import fcntl
import io
import os
import stat
from pathlib import Path


def is_alone(descriptor: int) -> bool:
    """Take the open file, until it is closed. False: somebody else has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def claimed(path: Path) -> io.FileIO | None:
    """The part, opened and taken; None when it is gone, or being written, or no plain file."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode) and is_alone(descriptor):
        return io.FileIO(descriptor, "r+b")
    os.close(descriptor)
    return None


def remove(path: Path) -> bool:
    """Remove the part, unless somebody writes to it. Errors: `OSError`."""
    file = claimed(path)
    if file is None:
        return False
    with file:
        path.unlink(missing_ok=True)
    return True
