"""What the program accepts is on the disk before the first byte of its 202 leaves, watched at the kernel's door."""

import re
import shutil
from pathlib import Path

from tests.crash.waiting import until
from tests.promises import fsynced
from tests.whole.stage import Stage

CALLS = "trace=recvfrom,sendto,fsync,fdatasync"
READ = re.compile(r"\brecvfrom(\(| resumed>)")
"""A read, also one that the trace tells in two lines since another thread called in between."""
ASKED = re.compile(r'"POST /internal/schedules/(\w+)/run.*')
TAKEN = '"HTTP/1.1 202'
PLANS = 8
"""As many as one daemon takes: one that runs and those that wait."""


def traced(folder: Path, program: str) -> str:
    """The system calls of a daemon that takes one trigger after the other."""
    assert shutil.which("strace"), "this test watches a process with strace, which must be installed"
    trace = folder / "trace"
    strace = ["strace", "-D", "-f", "-y", "-s", "200", "-e", CALLS, "-o", str(trace)]
    with Stage(folder, plans=PLANS) as stage:
        stage.pixiv.hold("*/search/*")  # or the commits of runs would hide that a trigger's own is missing
        daemon = stage.daemon(under=strace, program=program)
        answers = [stage.trigger(daemon, f"p{n}").status for n in range(PLANS)]
        assert answers == [202] * PLANS
        daemon.stop()
        until("the end of the trace", lambda: fsynced.is_whole(trace.read_text(errors="replace"), daemon.pid))
    return in_the_judges_words(trace.read_text(errors="replace"))


def in_the_judges_words(trace: str, plans: int = PLANS) -> str:
    """The trace with the judge's request and acceptance in place of the program's; each answer is to the last asked."""
    lines, plan = [], ""
    for line in trace.splitlines():
        if READ.search(line) and (asked := ASKED.search(line)):
            plan = asked[1]
            line = line[: asked.start()] + rf'"{{\"slot\": \"{plan}\"}}"'
        elif "sendto(" in line and TAKEN in line:
            line = line.replace(TAKEN, f'"ACCEPTED {plan}\\n HTTP/1.1 202')
        lines.append(line)
    text = "\n".join(lines)
    assert text.count('"ACCEPTED ') == plans
    assert all(rf"\"slot\": \"p{n}\"" in text for n in range(plans))
    return text


def test_a_202_leaves_after_the_log_was_synced(tmp_path: Path) -> None:
    assert fsynced.judge(traced(tmp_path, "pixivflow")) == []


def test_and_the_same_look_would_see_it_missing(tmp_path: Path) -> None:
    assert len(fsynced.judge(traced(tmp_path, "tests.whole.untidy"))) == PLANS


def test_a_request_that_was_read_while_another_thread_called_is_seen_as_well() -> None:
    trace = r"""11805 recvfrom(22<socket:[1]>,  <unfinished ...>
11812 sendto(7<socket:[2]>, "\0", 1, 0, NULL, 0) = 1
11805 <... recvfrom resumed>"POST /internal/schedules/p0/run HTTP/1.1\r\n\r\n{}", 65536, 0, NULL, NULL) = 161
11805 sendto(22<socket:[1]>, "HTTP/1.1 202 \r\n", 16, 0, NULL, 0) = 16"""

    assert fsynced.judge(in_the_judges_words(trace, 1)) == ["slot p0 was accepted before the log was on the disk"]
