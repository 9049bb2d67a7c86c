"""What the daemon accepts is on the disk before the client can know."""

import shutil
from pathlib import Path

from tests.crash.faults import Script
from tests.crash.plans import PlayedPlan
from tests.crash.stage import Stage
from tests.crash.waiting import until
from tests.promises import fsynced

CALLS = "trace=recvfrom,sendto,fsync,fdatasync"


def test_an_acceptance_leaves_after_the_log_was_synced(tmp_path: Path) -> None:
    assert shutil.which("strace"), "this test watches a process with strace, which must be installed"
    trace = tmp_path / "trace"
    strace = ["strace", "-D", "-f", "-y", "-s", "200", "-e", CALLS, "-o", str(trace)]
    plans = [PlayedPlan(id=f"p{n}", act="empty") for n in range(12)]
    with Stage(tmp_path, plans, Script()) as stage:
        daemon = stage.daemon(under=strace)
        stage.ask(daemon, *stage.plans)
        daemon.stop()
        assert stage.accepted() == set(stage.plans)
        until("the end of the trace", lambda: fsynced.is_whole(trace.read_text(errors="replace"), daemon.pid))
    text = trace.read_text(errors="replace")
    assert text.count('"ACCEPTED ') == len(plans)
    assert fsynced.judge(text) == []
