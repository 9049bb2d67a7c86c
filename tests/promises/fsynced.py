"""Accepted means fsynced: between a request and its acceptance the kernel has put the ledger's log on the disk.

A kill alone cannot show this, since what a dead process wrote is safe with the operating system. So the kernel's door
is watched: the text of `strace -f -y -s 200 -e trace=recvfrom,sendto,fsync,fdatasync` over a daemon that is asked for
one slot after the other.
"""

import re

CALL = re.compile(r"^(?P<pid>\d+) +(?P<call>\w+)\((?P<rest>.*)$")
RESUMED = re.compile(r"^(?P<pid>\d+) +<\.\.\. (?P<call>\w+) resumed>(?P<rest>.*)$")
ACCEPTED = re.compile(r'"ACCEPTED (?P<slot>[^\\"]+)')
ASKED = re.compile(r'\\"slot\\": \\"(?P<slot>[^\\"]+)')


def is_whole(trace: str, pid: int) -> bool:
    """Whether the trace goes on to the end of the process; strace pads short process ids."""
    return re.search(rf"^{pid} +\+\+\+ (exited|killed)", trace, re.MULTILINE) is not None


def judge(trace: str) -> list[str]:
    """The acceptances that were sent before any sync of the log, begun after the request was read, had come back."""
    faults: list[str] = []
    asked: dict[str, bool] = {}
    """Slot -> whether the log was synced since it was asked for."""
    syncing: dict[str, set[str]] = {}
    """Process -> the slots that had been asked for when its sync began."""
    for line in trace.splitlines():
        found = CALL.match(line) or RESUMED.match(line)
        if found is None:
            continue
        pid, call, rest = found["pid"], found["call"], found["rest"]
        if call == "recvfrom" and (request := ASKED.search(rest)):
            asked[request["slot"]] = False
        if "sync" in call:
            if "-wal" in rest:
                syncing[pid] = set(asked)
            if "unfinished" not in rest and rest.endswith("= 0"):
                asked |= dict.fromkeys(syncing.pop(pid, ()), True)
        if call == "sendto" and (answer := ACCEPTED.search(rest)) and not asked.get(answer["slot"], False):
            faults.append(f"slot {answer['slot']} was accepted before the log was on the disk")
    return faults
