"""Identities: what an operator sees in the column `lease_owner`."""

import re

from pixivflow.ids import run_owner, worker_owner


def test_an_owner_tells_what_holds_the_lease_and_in_which_process() -> None:
    assert run_owner(4711, "0a1b2c3d") == "run-4711-0a1b2c3d"
    assert worker_owner(4711, "0a1b2c3d") == "worker-4711-0a1b2c3d"


def test_a_run_and_a_pump_of_one_process_never_share_an_identity() -> None:
    assert run_owner(1, "00000000") != worker_owner(1, "00000000")


def test_two_runs_of_one_process_differ_by_their_token() -> None:
    assert run_owner(1, "00000000") != run_owner(1, "00000001")


def test_an_owner_is_one_word_that_needs_no_quoting_in_a_log() -> None:
    for owner in (run_owner(1, "deadbeef"), worker_owner(1, "deadbeef")):
        assert re.fullmatch(r"[a-z]+-[0-9]+-[0-9a-f]{8}", owner)
