"""`python -m tests.daemon.loaded CONFIG`: a daemon that tells what it has imported once it has answered.

Its port is the first line on standard output; each answered request adds a line, the names of all loaded modules.
"""

import json
import os
import socket
import sys
from pathlib import Path

from pixivflow.control.front import Front, Message, Receive, Send
from pixivflow.daemon.sockets import FIRST_FD
from pixivflow.daemon.start import start

ANSWER = Front.__call__


async def telling(front: Front, scope: Message, receive: Receive, send: Send) -> None:
    """Answer, and add a line."""
    await ANSWER(front, scope, receive, send)
    print(json.dumps(sorted(sys.modules)), flush=True)


def main() -> None:
    Front.__call__ = telling  # type: ignore[assignment, method-assign]
    door = socket.create_server(("127.0.0.1", 0))
    os.dup2(door.fileno(), FIRST_FD)
    print(door.getsockname()[1], flush=True)
    handed = {"LISTEN_FDS": "1", "LISTEN_PID": f"{os.getpid()}"}
    sys.exit(start(Path(sys.argv[1]), {**os.environ, **handed}))


if __name__ == "__main__":
    main()
