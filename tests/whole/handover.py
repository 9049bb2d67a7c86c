"""`python -m tests.whole.handover ARGUMENTS…`: becomes `pixivflow ARGUMENTS…` with a listening socket handed over.

The socket is the inherited descriptor that `HELD` numbers, else bound here to a free port of loopback; `READY <port>`
is said before the program takes this process over. Callers wait in the backlog from then on. `PROGRAM` names another
module to become.
"""

import os
import socket
import sys
from typing import Final

FIRST_FD: Final = 3
HELD: Final = "TESTS_SOCKET_HELD"
PROGRAM: Final = "TESTS_PROGRAM"


def main() -> None:
    held = int(os.environ.get(HELD, "-1"))
    if held < 0:
        held = socket.create_server(("127.0.0.1", 0), backlog=128).detach()
    os.dup2(held, FIRST_FD)
    if held != FIRST_FD:
        os.close(held)
    os.set_inheritable(FIRST_FD, True)
    port = socket.socket(fileno=os.dup(FIRST_FD)).getsockname()[1]
    print(f"READY {port}", flush=True)
    environ = {**os.environ, "LISTEN_FDS": "1", "LISTEN_PID": f"{os.getpid()}"}
    program = environ.get(PROGRAM, "pixivflow")
    os.execve(sys.executable, [sys.executable, "-m", program, *sys.argv[1:]], environ)  # noqa: S606 - stays this process


if __name__ == "__main__":
    main()
