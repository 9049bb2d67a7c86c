"""What acting in any order, and whole simulated lives, must notice."""

from tests.sabotages import Sabotage

LEDGER = "pixivflow/ledger"
ANY_ORDER = ("tests/simulation/test_any_order.py",)
FOUND = ("tests/simulation/test_found.py",)
LIVES = ("tests/simulation/test_lives.py",)

ROWS = (
    Sabotage(
        name="any order: a slot is claimed under a live lease",
        file=f"{LEDGER}/leases.py",
        find="WHERE id = :id AND (lease_until IS NULL OR lease_until <= :now OR lease_owner = :owner)",
        replace="WHERE id = :id",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: a run writes its end although it lost its slot",
        file=f"{LEDGER}/slots.py",
        find="return slot if slot and slot.lease_owner == owner and slot.status is SlotStatus.RUNNING else None",
        replace="return slot",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: a stale run still ends cells",
        file=f"{LEDGER}/cells.py",
        find="  AND (:owner IS NULL OR EXISTS",
        replace="  AND (TRUE OR :owner IS NULL OR EXISTS",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: a live slot is swept",
        file="pixivflow/slots/stall.py",
        find="    if is_live(slot, now):\n        return None\n",
        replace="",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: a stale worker closes the row of its successor",
        file=f"{LEDGER}/outbox_rows.py",
        find="WHERE id = :id AND status = :was AND lease_owner IS :owner",
        replace="WHERE id = :id AND status = :was",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: what a row is sent under is not what was promised",
        file="pixivflow/delivery/intents.py",
        find='"context": {**extras, "deliveryTarget": route, "idempotencyKey": key}',
        replace='"context": {**extras, "deliveryTarget": route, "idempotencyKey": f"{key}+"}',
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: a timeout leaves the slot to the next run",
        file="pixivflow/slots/machine.py",
        find="return Fate.ROLL_UP  # left open",
        replace="return Fate.LEAVE_RESUMABLE  # left open",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: a shutdown ends the slot",
        file="pixivflow/slots/machine.py",
        find="return Fate.LEAVE_RESUMABLE  # our stopping",
        replace="return Fate.ROLL_UP  # our stopping",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: the first route decides the cell",
        file="pixivflow/delivery/settle.py",
        find="    if RouteState.OWED in states.values():\n        return Live()\n",
        replace="",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: an operator's cancel leaves the cell waiting",
        file="pixivflow/delivery/orders.py",
        find="settles=not by_consumer",
        replace="settles=False",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: two cells of a slot take the same work",
        file=f"{LEDGER}/bindings.py",
        find="AND sibling.work_id = :work_id AND sibling.work_type = :work_type)",
        replace="AND sibling.work_id = :work_id AND FALSE)",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="any order: a settlement in passing keeps its lease",
        file=f"{LEDGER}/runs.py",
        find="    leases.release(db, slot_id, owner)\n    return status",
        replace="    return status",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="a dead row is armed beside another promise of its work",
        file=f"{LEDGER}/orders.py",
        find="if intent is not None and _served(db, intent):",
        replace="if intent is None:",
        tests=FOUND,
    ),
    Sabotage(
        name="a work is sent that a late answer told to be there",
        file=f"{LEDGER}/recording.py",
        find="kept_under = intents.kept_under(db, intent) if intent else None",
        replace="kept_under = None",
        tests=FOUND,
    ),
    Sabotage(
        name="any order: a failed slot waits for ever for its lifting",
        file=f"{LEDGER}/sweeps.py",
        find="WHERE reported_at IS NULL AND",
        replace="WHERE reported_at IS NULL AND status <> 'failed' AND",
        tests=ANY_ORDER,
    ),
    Sabotage(
        name="lives: a live run is swept after somebody set the clock",
        file="actors/stall_sweeper.py",
        find="await _end_stalled(ctx, parts, cared_for | frozenset(parts.runs.live))",
        replace="await _end_stalled(ctx, parts, cared_for)",
        tests=LIVES,
    ),
    Sabotage(
        name="lives: a stop is told as a timeout",
        file="actors/kit/context.py",
        find='            scope.end(CancelOrigin.SHUTDOWN, "stopping")\n        for context',
        replace='            scope.end(CancelOrigin.TIMEOUT, "stopping")\n        for context',
        tests=LIVES,
    ),
    Sabotage(
        name="lives: a consumer's cancel is told as a stop",
        file="actors/slot_runner.py",
        find="live.scope.end(origin, reason)",
        replace="live.scope.end(CancelOrigin.SHUTDOWN, reason)",
        tests=LIVES,
    ),
    Sabotage(
        name="lives: a run has all the time of the world",
        file="actors/slot_runner.py",
        find="    live.scope.limit(admitted.timeout_ms)\n",
        replace="",
        tests=LIVES,
    ),
    Sabotage(
        name="lives: a run that does not unwind keeps its lane",
        file="actors/slot_runner.py",
        find="with trio.move_on_after(parts.drain_window_ms / 1000):",
        replace="with trio.move_on_after(parts.drain_window_ms):",
        tests=LIVES,
    ),
    Sabotage(
        name="lives: nobody adds up what ended unnoticed",
        file=f"{LEDGER}/stores.py",
        find="        for slot in await self._ledger.read(sweeps.missed_rollups, at):\n",
        replace="        for slot in []:\n",
        tests=LIVES,
    ),
    Sabotage(
        name="lives: a clock set back keeps the leases of the dead",
        file=f"{LEDGER}/leaseclock.py",
        find="return expected if wall < expected - STEP_BACK_MS else wall",
        replace="return wall",
        tests=LIVES,
    ),
    Sabotage(
        name="lives: two cells that chose the same work both publish it",
        file=f"{LEDGER}/intents.py",
        find="    return bool(found)\n",
        replace="    return False\n",
        tests=LIVES,
    ),
    Sabotage(
        name="lives: every attempt is made twice",
        file="actors/outbox_pump.py",
        find='    ctx.point("outbox.claimed")\n    ack = await parts.attempt(row)\n',
        replace="    ack = await parts.attempt(row)\n    ack = await parts.attempt(row)\n",
        tests=LIVES,
    ),
)
