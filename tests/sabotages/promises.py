"""What the program promises, broken whole: each row is caught by a checker that knows only the wire and the file."""

from tests.sabotages import Sabotage

LIVES = "tests/crash/test_lives.py"
AT_RANDOM = f"{LIVES}::test_a_daemon_killed_at_random_keeps_every_promise"
ENDS = "tests/crash/test_ends.py"
STOPPED = f"{ENDS}::test_a_slot_that_was_running_when_the_process_was_stopped_goes_on_in_the_next_one"
DEAF = f"{ENDS}::test_a_process_that_hears_no_hint_finds_its_work_by_looking"
OVER_TIME = f"{ENDS}::test_a_run_over_its_time_ends_its_slot_whether_it_listens_or_not"
BOTH_ADMITTED = "tests/crash/test_pairs.py::test_a_slot_that_both_have_admitted_is_run_by_one"
RACE = f"{LIVES}::test_of_two_daemons_one_owns_and_the_one_that_slept_writes_nothing"

TOLD_FIRST = """
        end = await self._carrier.run(self._findable, batch.alone if self._again else batch.together)
"""
TOLD_BEFORE_COMMIT = """
        def uncommitted(db):
            steer = db.steer
            db.steer = lambda text: None if text == "COMMIT" else steer(text)
            try:
                return batch.together(db)
            finally:
                del db.steer

        end = await self._carrier.run(uncommitted)
        if isinstance(end, Settled):
            self._tell(end.jobs)
            for job in end.jobs:
                job.task = None
            await trio.sleep(0.05)
            await self._carrier.run(lambda db: db.steer("COMMIT") if db.in_transaction else None)
"""

ROWS = (
    Sabotage(
        name="what is accepted stays with the operating system",
        file="pixivflow/ledger/connection.py",
        find='"PRAGMA synchronous = FULL"',
        replace='"PRAGMA synchronous = OFF"',
        tests=("tests/crash/test_durability.py",),
    ),
    Sabotage(
        name="callers are answered before the commit",
        file="pixivflow/ledger/writer.py",
        find=TOLD_FIRST,
        replace=TOLD_BEFORE_COMMIT,
        tests=(AT_RANDOM,),
    ),
    Sabotage(
        name="a stale worker's answer is written over its successor's row",
        file="pixivflow/ledger/recording.py",
        find="    return write(db, row, intent, decided, now, was=RowStatus.PROCESSING, owner=owner)\n",
        replace="    return write(db, row, intent, decided, now, was=row.status, owner=row.lease_owner)\n",
        tests=(RACE,),
    ),
    Sabotage(
        name="each attempt has a key of its own",
        file="pixivflow/ledger/outbox.py",
        find="    return [row_of(values) for values in claimed]\n",
        replace=(
            "    keyed = [(*values[:3], values[3].replace('pixivflow:', f'pixivflow:{now}:'), *values[4:])\n"
            "             for values in claimed]\n"
            "    return [row_of(values) for values in keyed]\n"
        ),
        tests=(AT_RANDOM,),
    ),
    Sabotage(
        name="a delivery is recorded before the receiver has answered",
        file="pixivflow/ledger/recording.py",
        find="        tell(db, row, [AuditEvent(event=audit.CLAIMED)], now)\n        return True\n",
        replace=(
            "        tell(db, row, [AuditEvent(event=audit.CLAIMED)], now)\n"
            "        from pixivflow.delivery.model import Accepted\n"
            "        record(db, row_id, Accepted(), owner, now, 0.0)\n"
            "        return True\n"
        ),
        tests=(AT_RANDOM,),
    ),
    Sabotage(
        name="a timeout leaves its slot to be run again for ever",
        file="pixivflow/slots/machine.py",
        find="        case CancelOrigin.TIMEOUT:\n            return Fate.ROLL_UP",
        replace="        case CancelOrigin.TIMEOUT:\n            return Fate.LEAVE_RESUMABLE",
        tests=(OVER_TIME,),
    ),
    Sabotage(
        name="a shutdown ends the slots that run",
        file="pixivflow/slots/machine.py",
        find="        case CancelOrigin.SHUTDOWN | None:\n            return Fate.LEAVE_RESUMABLE",
        replace="        case CancelOrigin.SHUTDOWN | None:\n            return Fate.ROLL_UP",
        tests=(STOPPED,),
    ),
    Sabotage(
        name="a shutdown counts as a timeout",
        file="pixivflow/slots/machine.py",
        find="            return ExecutionStatus.SKIPPED\n",
        replace="            return ExecutionStatus.TIMEOUT\n",
        tests=(STOPPED,),
    ),
    Sabotage(
        name="a run gives its slot back before it is rolled up",
        file="pixivflow/ledger/runs.py",
        find="    timed_out = isinstance(end, Ended) and end.origin is CancelOrigin.TIMEOUT\n",
        replace=(
            "    leases.release(db, slot.id, Owner(run.owner))\n"
            "    timed_out = isinstance(end, Ended) and end.origin is CancelOrigin.TIMEOUT\n"
        ),
        tests=(OVER_TIME,),
    ),
    Sabotage(
        name="a claim takes a slot from whoever holds it",
        file="pixivflow/ledger/leases.py",
        find="WHERE id = :id AND (lease_until IS NULL OR lease_until <= :now OR lease_owner = :owner)",
        replace="WHERE id = :id",
        tests=(BOTH_ADMITTED,),
    ),
    Sabotage(
        name="recovery and sweep do not ask for the lease",
        file="pixivflow/slots/lease.py",
        find=("    return slot.lease_owner is not None and slot.lease_until is not None and slot.lease_until > now\n"),
        replace="    return False\n",
        tests=("tests/ledger/test_sweeps_stall.py", "tests/ledger/test_sweeps_recovery.py"),
    ),
    Sabotage(
        name="the pump looks only when it is told to",
        file="actors/outbox_pump.py",
        find="            letter = await ctx.next_letter(mailbox, await start())\n",
        replace="            await start()\n            letter = await ctx.next_letter(mailbox)\n",
        tests=(DEAF,),
    ),
    Sabotage(
        name="the sweeper looks only when it is told to",
        file="actors/stall_sweeper.py",
        find="        await ctx.next_letter(mailbox, parts.tick_ms)\n",
        replace="        await ctx.next_letter(mailbox)\n",
        tests=(DEAF,),
    ),
    Sabotage(
        name="a receiver's words are stored as they come",
        file="pixivflow/config/texts.py",
        find="    return _masked(well_formed(shortened(text, TEXT_CHARS)).translate(_CONTROLS))[:limit].strip()\n",
        replace="    return well_formed(shortened(text, TEXT_CHARS)).translate(_CONTROLS)[:limit].strip()\n",
        tests=(AT_RANDOM,),
    ),
    Sabotage(
        name="a crashed run of a slot goes on with another work",
        file="pixivflow/ledger/bindings.py",
        find="  AND ((work_id IS NULL AND status = 'pending')\n",
        replace="  AND ((status IN ('pending', 'selected'))\n",
        tests=("tests/ledger/test_cells_bindings.py",),
    ),
    Sabotage(
        name="the checker of files passes an orphan",
        file="tests/promises/parts.py",
        find='        if PART.match(path.name) and f"{path}" not in named:',
        replace="        if PART.match(path.name) and not named and not known and path.is_dir():",
        tests=("tests/promises/test_parts.py",),
    ),
    Sabotage(
        name="the checker of files believes what a row counts",
        file="tests/promises/parts.py",
        find='    if row["state"] == "staged" and len(content) < row["bytes_done"]:',
        replace="    if row is None:",
        tests=("tests/promises/test_parts.py",),
    ),
    Sabotage(
        name="the checker of files believes a hash",
        file="tests/promises/parts.py",
        find='.hexdigest() != row["sha256"]:',
        replace='.hexdigest() == "":',
        tests=("tests/promises/test_parts.py",),
    ),
    Sabotage(
        name="a promise is made anew by every run",
        file="pixivflow/delivery/intents.py",
        find='    return ":".join(map(str, parts))\n',
        replace='    import secrets\n\n    return ":".join(map(str, parts)) + secrets.token_hex(2)\n',
        tests=("tests/unit/delivery", "tests/ledger/test_enqueue.py"),
    ),
)
