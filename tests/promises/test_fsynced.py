"""The checker of fsyncs reads what the kernel was asked, in its order."""

import pytest

from tests.promises import fsynced

ASKED = r'7 recvfrom(9<socket:[1]>, "{\"slot\": \"p@1\"}\n", 65536, 0, NULL, NULL) = 16'
SYNCED = "8 fdatasync(5</tmp/ledger.db-wal>) = 0"
OTHER = "8 fdatasync(6</tmp/journal.jsonl>) = 0"
BEGUN = "8 fdatasync(5</tmp/ledger.db-wal> <unfinished ...>"
ENDED = "8 <... fdatasync resumed>) = 0"
ANSWERED = r'7 sendto(9<socket:[1]>, "ACCEPTED p@1\n", 13, 0, NULL, 0) = 13'
FAILED = "8 fdatasync(5</tmp/ledger.db-wal>) = -1 EIO (Input/output error)"


@pytest.mark.parametrize("trace", [(ASKED, SYNCED, ANSWERED), (ASKED, BEGUN, OTHER, ENDED, ANSWERED), (ASKED, SYNCED)])
def test_an_acceptance_after_a_sync_is_right(trace: tuple[str, ...]) -> None:
    assert fsynced.judge("\n".join(trace)) == []


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param((ASKED, ANSWERED), id="no sync at all"),
        pytest.param((SYNCED, ASKED, ANSWERED), id="a sync before the request"),
        pytest.param((BEGUN, ASKED, ENDED, ANSWERED), id="a sync that was under way when the request came"),
        pytest.param((ASKED, BEGUN, ANSWERED, ENDED), id="a sync that had not come back"),
        pytest.param((ASKED, OTHER, ANSWERED), id="a sync of something else"),
        pytest.param((ASKED, FAILED, ANSWERED), id="a sync that failed"),
    ],
)
def test_an_acceptance_before_the_sync_is_named(trace: tuple[str, ...]) -> None:
    assert fsynced.judge("\n".join(trace)) == ["slot p@1 was accepted before the log was on the disk"]


@pytest.mark.parametrize(
    "last", ["812 +++ exited with 0 +++", "812   +++ exited with 0 +++", "812 +++ killed by SIGKILL +++"]
)
def test_a_trace_is_whole_once_its_process_has_ended_however_it_is_written(last: str) -> None:
    assert fsynced.is_whole(f"81  +++ exited with 0 +++\n{last}\n", 812)
    assert not fsynced.is_whole("81  +++ exited with 0 +++\n812 fdatasync(3</l-wal>) = 0\n", 812)
