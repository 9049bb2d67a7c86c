"""Occurrences, cells and runs: admission, leases, moves, roll-ups, sweeps."""

from tests.sabotages import Sabotage

MACHINE = "pixivflow/slots/machine.py"
ROLLUP = "pixivflow/slots/rollup.py"
RUNS = "pixivflow/ledger/runs.py"
LEASES = "pixivflow/ledger/leases.py"
SLOTS = "pixivflow/ledger/slots.py"
CELLS = "pixivflow/ledger/cells.py"
BINDINGS = "pixivflow/ledger/bindings.py"
SWEEPS = "pixivflow/ledger/sweeps.py"
ADMISSION = "pixivflow/scheduling/admission.py"

MACHINE_TESTS = ("tests/unit/slots/test_machine.py",)
ROLLUP_TESTS = ("tests/unit/slots/test_rollup.py",)
OUTCOME_TESTS = ("tests/unit/slots/test_outcome.py", "tests/ledger/test_runs_outcomes.py")
ADMISSION_TESTS = ("tests/unit/scheduling/test_admission.py",)
FINISH_TESTS = ("tests/ledger/test_runs_finish.py",)
ABANDON_TESTS = ("tests/ledger/test_runs_abandon.py",)
BEGIN_TESTS = ("tests/ledger/test_runs_begin.py",)
ADMIT_TESTS = ("tests/ledger/test_runs_admit.py",)
LEASE_TESTS = ("tests/ledger/test_slots_leases.py",)
OPEN_TESTS = ("tests/ledger/test_slots_open.py",)
CELL_TESTS = ("tests/ledger/test_cells.py",)
BINDING_TESTS = ("tests/ledger/test_cells_bindings.py",)
EXECUTION_TESTS = ("tests/ledger/test_executions.py",)
CANCEL_TESTS = ("tests/ledger/test_cancels.py",)
STALL_TESTS = ("tests/ledger/test_sweeps_stall.py",)
RECOVERY_TESTS = ("tests/ledger/test_sweeps_recovery.py",)
MISSED_TESTS = ("tests/ledger/test_sweeps_missed.py",)
QUERY_TESTS = ("tests/ledger/test_sweeps_queries.py",)

ORIGINS = (
    Sabotage(
        name="a shutdown ends the slot",
        file=MACHINE,
        find="            return Fate.LEAVE_RESUMABLE  #",
        replace="            return Fate.ROLL_UP  #",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="a timeout leaves the slot to be run again for ever",
        file=MACHINE,
        find="            return Fate.ROLL_UP  # left open,",
        replace="            return Fate.LEAVE_RESUMABLE  # left open,",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="a run that lost its lease rolls up",
        file=MACHINE,
        find="            return Fate.WRITE_NOTHING  #",
        replace="            return Fate.ROLL_UP  #",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="a skipped run counts as a success",
        file=MACHINE,
        find="            return ExecutionStatus.SKIPPED",
        replace="            return ExecutionStatus.SUCCESS",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="a lost lease is counted",
        file=MACHINE,
        find="        case CancelOrigin.LEASE_LOST:\n            return None",
        replace="        case CancelOrigin.LEASE_LOST:\n            return ExecutionStatus.FAILED",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="a wedged run at a stop is ended by decree",
        file=RUNS,
        find="    if fate(end) is not Fate.ROLL_UP:\n        return finish(db, run, end, now)\n",
        replace="",
        tests=ABANDON_TESTS,
    ),
)

LEASED = (
    Sabotage(
        name="anybody claims a live lease",
        file=LEASES,
        find="lease_until <= :now OR lease_owner = :owner)",
        replace="TRUE)",
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="a lease is over only after its end",
        file=LEASES,
        find="lease_until IS NULL OR lease_until <= :now",
        replace="lease_until IS NULL OR lease_until < :now",
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="anybody's heartbeat extends the lease",
        file=LEASES,
        find="WHERE id = :id AND lease_owner = :owner AND status = 'running'",
        replace="WHERE id = :id AND status = 'running'",
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="a swept slot's old owner beats on",
        file=LEASES,
        find=" AND lease_owner = :owner AND status = 'running'",
        replace=" AND lease_owner = :owner",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="anybody releases a lease",
        file=LEASES,
        find="lease_until = NULL WHERE id = :id AND lease_owner = :owner",
        replace="lease_until = NULL WHERE id = :id",
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="a release wipes the last heartbeat",
        file=LEASES,
        find='RELEASE = "UPDATE schedule_slots SET lease_owner = NULL,',
        replace='RELEASE = "UPDATE schedule_slots SET heartbeat_at = NULL, lease_owner = NULL,',
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="claims and beats are forgotten by the lease clock",
        file=LEASES,
        find="    if won:\n        leaseclock.remember(db, now)\n",
        replace="",
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="a finish looks at no owner",
        file=SLOTS,
        find="return slot if slot and slot.lease_owner == owner and slot.status is SlotStatus.RUNNING else None",
        replace="return slot if slot and slot.status is SlotStatus.RUNNING else None",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="an owner from before a sweep finishes",
        file=SLOTS,
        find="return slot if slot and slot.lease_owner == owner and slot.status is SlotStatus.RUNNING else None",
        replace="return slot if slot and slot.lease_owner == owner else None",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="the end of a slot asks for no lease",
        file=SLOTS,
        find="  AND CASE :fence WHEN",
        replace="  OR CASE :fence WHEN",
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="the lease is released before the roll-up",
        file=RUNS,
        find="    timed_out = isinstance(end, Ended)",
        replace="    leases.release(db, slot.id, Owner(run.owner))\n    timed_out = isinstance(end, Ended)",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="a finished run keeps its lease",
        file=RUNS,
        find=(
            "    _count(db, slot, run, end, now)\n"
            "    leases.release(db, slot.id, Owner(run.owner))\n"
            "    return Verdict(status)"
        ),
        replace="    _count(db, slot, run, end, now)\n    return Verdict(status)",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="running is written before the claim is won",
        file=SLOTS,
        find="WHERE id = :id AND lease_owner = :owner AND status IN (SELECT",
        replace="WHERE id = :id AND status IN (SELECT",
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="a loser of the claim begins all the same",
        file=RUNS,
        find="    if not leases.claim(db, slot_id, owner, now, ttl_ms):\n        return Lost()\n",
        replace="    leases.claim(db, slot_id, owner, now, ttl_ms)\n",
        tests=BEGIN_TESTS,
    ),
)

SLOT_ROWS = (
    Sabotage(
        name="started_at is stamped anew at each resume",
        file=SLOTS,
        find="started_at = COALESCE(started_at, :at)",
        replace="started_at = :at",
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="completed_at is stamped anew at each roll-up",
        file=SLOTS,
        find="completed_at = COALESCE(completed_at, :at)",
        replace="completed_at = :at",
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="a re-opened slot keeps its old end",
        file=SLOTS,
        find="COALESCE(started_at, :at), completed_at = NULL",
        replace="COALESCE(started_at, :at)",
        tests=LEASE_TESTS,
    ),
    Sabotage(
        name="a slot without targets is opened",
        file=SLOTS,
        find="    if not targets:",
        replace="    if targets is None:",
        tests=OPEN_TESTS,
    ),
    Sabotage(
        name="one request key means two things",
        file=SLOTS,
        find="        _same_request(db, slot)\n",
        replace="",
        tests=OPEN_TESTS,
    ),
    Sabotage(
        name="opening a slot twice adds cells",
        file=SLOTS,
        find="        _same_request(db, slot)\n        return False\n",
        replace="        _same_request(db, slot)\n",
        tests=OPEN_TESTS,
    ),
    Sabotage(
        name="a completed slot runs again",
        file=MACHINE,
        find="    return status in COMPLETED_SLOT or status is SlotStatus.EXPIRED",
        replace="    return False",
        tests=ADMIT_TESTS,
    ),
    Sabotage(
        name="a failed slot without an open cell runs again",
        file=MACHINE,
        find="        return not has_open_cell",
        replace="        return False",
        tests=ADMIT_TESTS,
    ),
)

CELL_ROWS = (
    Sabotage(
        name="a cell that has ended is overwritten",
        file=CELLS,
        find="  AND status IN (SELECT value FROM json_each(:sources))",
        replace="  AND :sources <> '[]'",
        tests=CELL_TESTS,
    ),
    Sabotage(
        name="the reason is written although the move is refused",
        file=CELLS,
        find="    return db.execute(CHANGE, values).rowcount == 1",
        replace=(
            "    moved = db.execute(CHANGE, values).rowcount == 1\n"
            '    db.execute("UPDATE schedule_slot_items SET terminal_reason_code = COALESCE(:reason,'
            ' terminal_reason_code) WHERE slot_id = :slot_id AND target_id = :target_id", values)\n'
            "    return moved"
        ),
        tests=CELL_TESTS,
    ),
    Sabotage(
        name="a verdict about another work moves the cell",
        file=CELLS,
        find="  AND (:work_id IS NULL OR work_id IS NULL OR work_id = :work_id)\n",
        replace="",
        tests=CELL_TESTS,
    ),
    Sabotage(
        name="a run without its lease writes verdicts",
        file=CELLS,
        find="WHERE id = :slot_id AND lease_owner = :owner AND status = 'running'",
        replace="WHERE id = :slot_id",
        tests=CELL_TESTS,
    ),
    Sabotage(
        name="a long report blocks its verdict",
        file=CELLS,
        find='"report": kept_report(verdict.report)',
        replace='"report": verdict.report',
        tests=CELL_TESTS,
    ),
    Sabotage(
        name="a long error blocks its verdict",
        file=CELLS,
        find='"error": stored_text(verdict.error, CELL_ERROR_MAX)',
        replace='"error": verdict.error',
        tests=CELL_TESTS,
    ),
    Sabotage(
        name="an ACK counts as an attempt",
        file=CELLS,
        find='"locks": role is Role.RUN and verdict.work is not None',
        replace='"locks": verdict.work is not None',
        tests=CELL_TESTS,
    ),
    Sabotage(
        name="a cell is bound without asking what it holds",
        file=BINDINGS,
        find="  AND ((work_id IS NULL AND status = 'pending')\n       OR (work_id = :work_id AND",
        replace="  AND ((TRUE)\n       OR (work_id = :work_id AND",
        tests=BINDING_TESTS,
    ),
    Sabotage(
        name="two cells of a slot take one work",
        file=BINDINGS,
        find="sibling.slot_id = :slot_id AND sibling.target_id <> :target_id",
        replace="FALSE",
        tests=BINDING_TESTS,
    ),
    Sabotage(
        name="a work under way is given back",
        file=BINDINGS,
        find="work_id = :work_id AND status = 'selected'",
        replace="work_id = :work_id",
        tests=BINDING_TESTS,
    ),
    Sabotage(
        name="somebody else's work is given back",
        file=BINDINGS,
        find="AND work_id = :work_id AND status = 'selected'",
        replace="AND status = 'selected'",
        tests=BINDING_TESTS,
    ),
    Sabotage(
        name="a stage is skipped when two ask for it",
        file=BINDINGS,
        find=" AND fallback_stage = :stage - 1",
        replace="",
        tests=BINDING_TESTS,
    ),
    Sabotage(
        name="a held work is searched away",
        file="pixivflow/slots/fallback.py",
        find="is_manual or cell.work_id is not None or",
        replace="is_manual or",
        tests=("tests/unit/slots/test_fallback.py",),
    ),
    Sabotage(
        name="a dead end is searched to the last stage",
        file="pixivflow/slots/fallback.py",
        find="return None if is_dead_end(scan) else cell.fallback_stage + 1",
        replace="return cell.fallback_stage + 1",
        tests=BINDING_TESTS,
    ),
    Sabotage(
        name="a held work is given up for an empty search",
        file="pixivflow/slots/target.py",
        find="            if cell.work_id is not None:\n                return None",
        replace="            if cell.work_id is None and cell.work_id:\n                return None",
        tests=BINDING_TESTS,
    ),
    Sabotage(
        name="a retryable failure ends its cell",
        file="pixivflow/slots/target.py",
        find="to=None, error=outcome.error",
        replace="to=CellStatus.FAILED, error=outcome.error",
        tests=BINDING_TESTS,
    ),
)

ENDS = (
    Sabotage(
        name="an open delivery makes a forced end partial",
        file=ROLLUP,
        find="    return SlotStatus.FAILED if status in (SlotStatus.RUNNING, SlotStatus.PENDING) else status",
        replace="    return SlotStatus.PARTIAL if status in (SlotStatus.RUNNING, SlotStatus.PENDING) else status",
        tests=ABANDON_TESTS,
    ),
    Sabotage(
        name="a decree fails what is being delivered",
        file=ROLLUP,
        find="    ended = TO_BE_RUN | IN_DELIVERY if delivery_too else TO_BE_RUN",
        replace="    ended = TO_BE_RUN | IN_DELIVERY",
        tests=ROLLUP_TESTS,
    ),
    Sabotage(
        name="a 429 is reported as an internal bug",
        file=ROLLUP,
        find="reason = _left_behind(cell) or unfinished",
        replace="reason = unfinished",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="a dead delivery holds its slot for ever",
        file=ROLLUP,
        find="        elif cell.status in IN_DELIVERY and cell.target_id in abandoned:",
        replace="        elif cell.status in IN_DELIVERY and not abandoned and cell.target_id in abandoned:",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="a promise never made converges",
        file="pixivflow/ledger/rollups.py",
        find="if cell.status in IN_DELIVERY and deliveries.abandoned(db, slot_id, cell.target_id)",
        replace="if cell.status in IN_DELIVERY",
        tests=FINISH_TESTS,
    ),
    Sabotage(
        name="an ACK that landed before a crash is posted again",
        file="pixivflow/ledger/rollups.py",
        find="        if change is not None:\n",
        replace="        if change is not None and not change.work:\n",
        tests=BEGIN_TESTS,
    ),
    Sabotage(
        name="an outcome is kept twice",
        file="pixivflow/ledger/events.py",
        find="WHERE NOT EXISTS (SELECT 1 FROM delivery_events WHERE slot_id = :slot_id AND event = :event)",
        replace="WHERE TRUE",
        tests=MISSED_TESTS,
    ),
    Sabotage(
        name="a cancel is counted as a lost delivery",
        file="pixivflow/slots/outcome.py",
        find="    if cell.reason_code == ReasonCode.CANCELLED_BY_CONSUMER:\n        return Category.CANCELLED\n",
        replace="",
        tests=OUTCOME_TESTS,
    ),
    Sabotage(
        name="an empty day calls an operator",
        file="pixivflow/slots/outcome.py",
        find="        return self is BusinessStatus.FAILED",
        replace="        return self is not BusinessStatus.SUCCESS",
        tests=OUTCOME_TESTS,
    ),
    Sabotage(
        name="a cancel leaves the lease to the run",
        file="pixivflow/ledger/cancels.py",
        find="    leases.release_whoever_holds(db, slot_id)\n",
        replace="",
        tests=CANCEL_TESTS,
    ),
    Sabotage(
        name="a cancel leaves its deliveries to go out",
        file="pixivflow/ledger/cancels.py",
        find="            deliveries.cancel_cell(db, slot_id, cell.target_id, now)",
        replace="            pass",
        tests=CANCEL_TESTS,
    ),
    Sabotage(
        name="a cancel downgrades what was delivered",
        file=ROLLUP,
        find="failure(cell, reason, None if cell.last_error else error) for cell in cells if cell.status in ended",
        replace="failure(cell, reason, None if cell.last_error else error) for cell in cells",
        tests=CANCEL_TESTS,
    ),
)

COUNTED = (
    Sabotage(
        name="a skipped run breaks a streak and moves the last start",
        file="pixivflow/ledger/executions.py",
        find="WHERE schedule_id = :schedule_id AND status <> 'skipped'\n",
        replace="WHERE schedule_id = :schedule_id\n",
        tests=EXECUTION_TESTS,
    ),
    Sabotage(
        name="a skipped run moves the last end",
        file="pixivflow/ledger/executions.py",
        find="WHERE schedule_id = ? AND status <> 'skipped'",
        replace="WHERE schedule_id = ?",
        tests=EXECUTION_TESTS,
    ),
    Sabotage(
        name="a timeout is no failure",
        file="pixivflow/ledger/executions.py",
        find="(ExecutionStatus.FAILED, ExecutionStatus.TIMEOUT)",
        replace="(ExecutionStatus.FAILED,)",
        tests=EXECUTION_TESTS,
    ),
    Sabotage(
        name="a plan runs twice at once",
        file=ADMISSION,
        find="    if any(run.plan == plan.id or run.slot == slot.id for run in busy):",
        replace="    if any(run.slot == slot.id for run in busy):",
        tests=ADMISSION_TESTS,
    ),
    Sabotage(
        name="a place to wait too many",
        file=ADMISSION,
        find="    return waiting < governance.queue_limit",
        replace="    return waiting <= governance.queue_limit",
        tests=ADMISSION_TESTS,
    ),
    Sabotage(
        name="a free lane asks for a place to wait",
        file=ADMISSION,
        find="    if taken[lane] < governance.capacity(lane):\n        return True\n",
        replace="",
        tests=ADMISSION_TESTS,
    ),
    Sabotage(
        name="a limit is one too high",
        file=ADMISSION,
        find="facts.executions >= plan.max_executions",
        replace="facts.executions > plan.max_executions",
        tests=ADMISSION_TESTS,
    ),
    Sabotage(
        name="a promise is made about another process's run",
        file=ADMISSION,
        find='    if slot.is_leased:\n        return Refused("already_running")\n',
        replace="",
        tests=ADMIT_TESTS,
    ),
)

SWEPT = (
    Sabotage(
        name="the stall verdict looks at no lease",
        file="pixivflow/slots/stall.py",
        find="    if is_live(slot, now):\n        return None\n",
        replace="",
        tests=STALL_TESTS,
    ),
    Sabotage(
        name="the stall sweep ends what is only queued for a while",
        file="pixivflow/slots/stall.py",
        find="now - limits.queued_ms, ReasonCode",
        replace="now, ReasonCode",
        tests=STALL_TESTS,
    ),
    Sabotage(
        name="the stall sweep gives a published slot a verdict",
        file="pixivflow/slots/stall.py",
        find="    if cells and not any(cell.is_open for cell in cells):",
        replace="    if not cells:",
        tests=STALL_TESTS,
    ),
    Sabotage(
        name="recovery dispatches live runs",
        file=SWEEPS,
        find="WHERE status IN ('pending', 'running') AND (lease_until IS NULL OR lease_until <= :now)\n  AND id NOT IN",
        replace="WHERE status IN ('pending', 'running')\n  AND id NOT IN",
        tests=RECOVERY_TESTS,
    ),
    Sabotage(
        name="recovery settles under a live run",
        file="pixivflow/slots/recovery.py",
        find="    return slot.status in OPEN_SLOT and not is_live(slot, now)",
        replace="    return slot.status in OPEN_SLOT",
        tests=("tests/unit/slots/test_recovery.py",),
    ),
    Sabotage(
        name="a delivery that backs off costs a run a minute",
        file="pixivflow/slots/recovery.py",
        find="if any(cell.status not in IN_DELIVERY or",
        replace="if still_open or any(cell.status not in IN_DELIVERY or",
        tests=RECOVERY_TESTS,
    ),
    Sabotage(
        name="the reconciler rolls up under a live run",
        file=SWEEPS,
        find="slot.reported_at is not None or is_live(slot, now)",
        replace="slot.reported_at is not None",
        tests=MISSED_TESTS,
    ),
    Sabotage(
        name="the reconciler reads all history",
        file=SWEEPS,
        find="WHERE reported_at IS NULL AND status",
        replace="WHERE COALESCE(reported_at, 0) = 0 AND status",
        tests=QUERY_TESTS,
    ),
    Sabotage(
        name="the stall sweep reads all history",
        file=SWEEPS,
        find="WHERE status IN ('pending', 'running') AND status = 'pending' AND",
        replace="WHERE status = 'pending' AND",
        tests=QUERY_TESTS,
    ),
    Sabotage(
        name="a failed slot is not lifted by a late ACK",
        file=MACHINE,
        find="        _S.SUCCESS: OPEN_SLOT | {_S.FAILED},",
        replace="        _S.SUCCESS: OPEN_SLOT,",
        tests=ABANDON_TESTS,
    ),
)

ROWS = (*ORIGINS, *LEASED, *SLOT_ROWS, *CELL_ROWS, *ENDS, *COUNTED, *SWEPT)
