"""The kit and the actors: who ended a run, who is told what when, and what is left of whom."""

from tests.sabotages import Sabotage

CANCEL, CONTEXT, MAILBOX = "actors/kit/cancel.py", "actors/kit/context.py", "actors/kit/mailbox.py"
RESTART, SUPERVISOR = "actors/kit/restart.py", "actors/kit/supervisor.py"
RUNS, RUNNER = "actors/runs.py", "actors/slot_runner.py"
PUMP, LANE = "actors/outbox_pump.py", "actors/outbox_lane.py"

CANCEL_TESTS = ("tests/actors/test_cancel.py",)
MODEL_TESTS = ("tests/actors/test_cancel_property.py",)
CONTEXT_TESTS = ("tests/actors/test_context.py",)
MAILBOX_TESTS = ("tests/actors/test_mailbox.py",)
RESTART_TESTS = ("tests/actors/test_restart.py",)
START_TESTS = ("tests/actors/test_supervisor.py",)
STOP_TESTS = ("tests/actors/test_supervisor_stop.py",)
RUNS_TESTS = ("tests/actors/test_runs.py",)
RUNNER_TESTS = ("tests/actors/test_slot_runner.py",)
ORIGIN_TESTS = ("tests/actors/test_slot_runner_origins.py",)
WEDGED_TESTS = ("tests/actors/test_slot_runner_wedged.py",)
PUMP_TESTS = ("tests/actors/test_outbox_pump.py",)
PUMP_STOP_TESTS = ("tests/actors/test_outbox_pump_stop.py",)
DRAIN_TESTS = ("tests/actors/test_outbox_pump_drain.py",)


def breaking(name: str, file: str, find: str, replace: str, tests: tuple[str, ...]) -> Sabotage:
    return Sabotage(name=name, file=file, find=find, replace=replace, tests=tests)


CANCELLATION = (
    breaking(
        "the last origin wins", CANCEL, "if self._left or self.ended is not None:", "if self._left:", CANCEL_TESTS
    ),
    breaking(
        "the last origin wins, and only the model knows better",
        CANCEL,
        "if self._left or self.ended is not None:",
        "if self._left:",
        MODEL_TESTS,
    ),
    breaking(
        "an end is believed although the deadline had passed",
        CANCEL,
        "        if trio.current_time() >= self.deadline:\n            ended =",
        "        if self._left:\n            ended =",
        CANCEL_TESTS,
    ),
    breaking(
        "a timeout is what the scope itself caught",
        CANCEL,
        "if error is not None and self.ended is None and trio.current_time() >= self.deadline:",
        "if self._scope.cancelled_caught and self.ended is None:",
        CANCEL_TESTS,
    ),
    breaking(
        "a restart whose clean-up outlasts the deadline is a timeout",
        CANCEL,
        'self._say(Ended(None, "from above"))',
        "self._changed.unpark_all()",
        MODEL_TESTS,
    ),
    breaking(
        "a transport that breaks because it was cancelled is a crash",
        CANCEL,
        "if scope.ended is not None and not isinstance(end, Finished):",
        "if scope.ended is not None and isinstance(end, Ended):",
        CANCEL_TESTS,
    ),
    breaking(
        "what a run raised on its way out is dropped",
        CANCEL,
        "end = replace(scope.ended, error=end.error)",
        "end = scope.ended",
        CANCEL_TESTS,
    ),
    breaking(
        "a watcher does not hear of a deadline that was set while it waited",
        CANCEL,
        "timeout_ms / 1000\n        self._changed.unpark_all()",
        "timeout_ms / 1000",
        CANCEL_TESTS,
    ),
    breaking(
        "a shutdown is told as a timeout",
        CONTEXT,
        "        for scope in self._scopes:\n            scope.end(CancelOrigin.SHUTDOWN",
        "        for scope in self._scopes:\n            scope.end(CancelOrigin.TIMEOUT",
        ORIGIN_TESTS,
    ),
    breaking(
        "a scope opened after the word to stop does not hear it",
        CONTEXT,
        "        if self.stopping:\n            scope.end(",
        "        if self._waits:\n            scope.end(",
        CONTEXT_TESTS,
    ),
    breaking(
        "an actor inside another is not told to stop",
        CONTEXT,
        "        for context in self._inner:\n            context.stop()",
        "        for context in self._inner:\n            context.note('left alone')",
        CONTEXT_TESTS,
    ),
    breaking("a settlement is cut with its actor", CONTEXT, "1000, shield=True)", "1000, shield=False)", CONTEXT_TESTS),
)

LETTERS = (
    breaking(
        "a dying actor leaves its asker waiting",
        MAILBOX,
        'self.refuse(NoAnswer(f"no answer to {type(self.message).__name__}"))',
        "self.withdrawn = True",
        MAILBOX_TESTS,
    ),
    breaking("a question without an asker is read", MAILBOX, "if not letter.withdrawn:", "if letter:", MAILBOX_TESTS),
    breaking(
        "a closed box keeps its letters",
        MAILBOX,
        'self._receive.receive_nowait().refuse(NoAnswer("nobody is left to answer"))',
        "self._receive.receive_nowait()",
        MAILBOX_TESTS,
    ),
    breaking(
        "an error in an answer says only that there is none",
        MAILBOX,
        "            self.refuse(error)\n",
        "            self.refuse(NoAnswer(str(error)))\n",
        MAILBOX_TESTS,
    ),
    breaking(
        "the last answer counts",
        MAILBOX,
        "        if not self._answered.is_set():\n            self._value = value",
        "        if value is not None:\n            self._value = value",
        MAILBOX_TESTS,
    ),
)

TREE = (
    breaking(
        "who asks the dead waits for the deadline",
        SUPERVISOR,
        "        self.child.farewell()\n",
        "",
        (*START_TESTS, "tests/daemon/test_asking.py"),
    ),
    breaking(
        "letters are refused between two lives",
        SUPERVISOR,
        '            self.context.note("actor.failed", error=error)\n',
        '            self.context.note("actor.failed", error=error)\n            self.child.farewell()\n',
        (*START_TESTS, *MAILBOX_TESTS),
    ),
    breaking(
        "who never began keeps its box open",
        SUPERVISOR,
        "                keeper.leave()\n",
        "                keeper.gone.set()\n",
        START_TESTS,
    ),
    breaking(
        "a daemon that shall stay leaves when it is idle",
        "pixivflow/daemon/tree.py",
        'return runtime.mode == "external" and runtime.exit_when_idle',
        'return runtime.mode == "external"',
        ("tests/daemon/test_tree.py",),
    ),
    breaking(
        "the clock starts before recovery",
        "pixivflow/daemon/tree.py",
        '    Place("runs",           Kind.PERMANENT, When.ALWAYS),',
        '    Place("scheduler",      Kind.PERMANENT, When.ALWAYS), Place("runs", Kind.PERMANENT, When.ALWAYS),',
        ("tests/daemon/test_tree.py",),
    ),
    breaking(
        "the box of slot_runner stays open",
        "pixivflow/daemon/ground.py",
        "Body(self._slot_runner, self.runner)",
        "Body(self._slot_runner)",
        ("tests/daemon/test_asking.py",),
    ),
    breaking("the back-off does not grow", RESTART, "budget.backoff_ms << recent", "budget.backoff_ms", RESTART_TESTS),
    breaking("a failure is never forgiven", RESTART, "if at > now - budget.period_ms", "if at < now", RESTART_TESTS),
    breaking(
        "one restart more than the budget",
        RESTART,
        "recent >= budget.intensity",
        "recent > budget.intensity",
        START_TESTS,
    ),
    breaking(
        "everybody starts at once",
        SUPERVISOR,
        "await keeper.met.wait()",
        "await trio.lowlevel.checkpoint()",
        START_TESTS,
    ),
    breaking(
        "the first to start is the first to go",
        SUPERVISOR,
        "keepers = [k for k in reversed(self._keepers)",
        "keepers = [k for k in self._keepers",
        STOP_TESTS,
    ),
    breaking(
        "the foundation goes with the others",
        SUPERVISOR,
        "reversed(self._keepers) if k.child.foundation is is_last]",
        "reversed(self._keepers)]",
        STOP_TESTS,
    ),
    breaking(
        "each actor gets a grace of its own",
        SUPERVISOR,
        "        for keeper in keepers:\n            await _gone(keeper, deadline)",
        "        for keeper in keepers:\n            await _gone(keeper, trio.current_time() + 4)",
        STOP_TESTS,
    ),
    breaking(
        "an actor that fails at the stop is started again",
        SUPERVISOR,
        "error = await self._live()\n            if self.context.stopping:\n                return None",
        "error = await self._live()",
        STOP_TESTS,
    ),
    breaking(
        "a child in its back-off is started again by the stop",
        SUPERVISOR,
        "                    if self.context.stopping:\n                        return None\n",
        "",
        STOP_TESTS,
    ),
    breaking(
        "a tree that is cancelled tells nobody in it",
        SUPERVISOR,
        "                    keeper.context.cut()",
        "                    keeper.met.set()",
        STOP_TESTS,
    ),
    breaking(
        "those that went are named as stuck",
        SUPERVISOR,
        "if not k.gone.is_set()]",
        "if k.gone.is_set()]",
        STOP_TESTS,
    ),
)

RUN = (
    breaking(
        "a run given up takes its successor's entry with it",
        RUNS,
        "if self._live.get(live.busy.slot) is live:",
        "if live.busy.slot in self._live:",
        RUNS_TESTS,
    ),
    breaking(
        "a lane keeps the capacity of its first run",
        RUNS,
        "lane.total_tokens = capacity",
        "lane.total_tokens = lane.total_tokens",
        RUNS_TESTS,
    ),
    breaking(
        "admission knows of no run",
        RUNNER,
        "busy = tuple(live.busy for live in parts.runs.live.values())",
        "busy = ()",
        RUNNER_TESTS,
    ),
    breaking(
        "a run cancelled as its turn comes begins",
        RUNNER,
        "    await trio.lowlevel.checkpoint_if_cancelled()  # its turn may have come in the instant of its end\n",
        "",
        RUNNER_TESTS,
    ),
    breaking(
        "a run stopped in its claim starts to work",
        RUNNER,
        '    ctx.point("run.claimed")\n    await trio.lowlevel.checkpoint_if_cancelled()\n',
        '    ctx.point("run.claimed")\n',
        WEDGED_TESTS,
    ),
    breaking(
        "the delay eats the budget",
        RUNNER,
        "live.scope.limit(admitted.timeout_ms)",
        "live.scope.limit(admitted.timeout_ms - admitted.delay_ms)",
        RUNNER_TESTS,
    ),
    breaking("the loser of a claim drains nothing", RUNNER, "        parts.drain()\n", "        pass\n", RUNNER_TESTS),
    breaking(
        "the loser of a claim runs",
        RUNNER,
        "isinstance(begun, Lost | Settled)",
        "isinstance(begun, Settled)",
        RUNNER_TESTS,
    ),
    breaking(
        "a queued slot counts as aborted",
        RUNNER,
        "live.scope.end(origin, reason) and live.run is not None",
        "live.scope.end(origin, reason)",
        RUNNER_TESTS,
    ),
    breaking(
        "a lost lease goes unnoticed",
        RUNNER,
        'scope.end(CancelOrigin.LEASE_LOST, "another owner has the slot")',
        "ctx.point('run.beat')",
        ORIGIN_TESTS,
    ),
    breaking(
        "the stopping heart takes the result with it",
        RUNNER,
        "nursery.cancel_scope.shield = True",
        "nursery.cancel_scope.shield = False",
        ORIGIN_TESTS,
    ),
    breaking(
        "nobody watches a wedged run",
        RUNNER,
        "        if not settled.is_set():\n",
        "        if settled.is_set():\n",
        (
            f"{WEDGED_TESTS[0]}::test_at_a_stop_the_watcher_settles_a_wedged_run_after_the_grace_and_before_the_foundation_closes",
        ),
    ),
    breaking(
        "a run that was given up writes when it returns",
        RUNNER,
        "if live.run is None or live.revoked:",
        "if live.run is None:",
        WEDGED_TESTS,
    ),
    breaking(
        "a run is settled by itself and by its watcher",
        RUNNER,
        "if live.run is None or live.settling:",
        "if live.run is None:",
        WEDGED_TESTS,
    ),
    breaking(
        "the error of an abandonment waits for the wedge",
        RUNNER,
        '        ctx.note("run.failed", slot=live.busy.slot, error=error)',
        "        raise",
        WEDGED_TESTS,
    ),
    breaking(
        "a late error goes unheard",
        RUNNER,
        'ctx.note("run.late" if live.revoked else "run.not_begun", slot=live.busy.slot, **told(end))',
        "live.revoked = True",
        WEDGED_TESTS,
    ),
)

OUTBOX = (
    breaking(
        "nothing is sent while a roll-up fails",
        PUMP,
        'ctx.note("pump.missed_failed", error=error)\n',
        'ctx.note("pump.missed_failed", error=error)\n        raise\n',
        PUMP_TESTS,
    ),
    breaking(
        "one bad slot keeps all others from being rolled up",
        PUMP,
        'ctx.note("pump.roll_up_failed", slot=slot, error=error)\n',
        'ctx.note("pump.roll_up_failed", slot=slot, error=error)\n            return\n',
        PUMP_TESTS,
    ),
    breaking(
        "a row that waits for its receiver is not told of",
        LANE,
        "        await parts.outbox.defer(route, parts.batch, why, ctx.clock.now_ms())\n",
        "",
        PUMP_TESTS,
    ),
    breaking(
        "a route that hangs holds the others up",
        PUMP,
        "nursery.start_soon(_lane, ctx, parts, route, lane, wake)",
        "await _lane(ctx, parts, route, lane, wake)",
        PUMP_TESTS,
    ),
    breaking("rows behind the one in hand lose their lease", LANE, "[*in_hand, *unsent]", "[*in_hand]", PUMP_TESTS),
    breaking("the row in hand loses its lease", LANE, "[*in_hand, *unsent]", "[*unsent]", PUMP_TESTS),
    breaking(
        "a row that becomes due waits for the poll",
        PUMP,
        "return parts.poll_ms if due.next_at is None else min(parts.poll_ms, max(1, due.next_at - now))",
        "return parts.poll_ms",
        PUMP_TESTS,
    ),
    breaking(
        "without a hint nothing happens",
        PUMP,
        "return parts.poll_ms if due.next_at is None else min(parts.poll_ms, max(1, due.next_at - now))",
        "return 10**9",
        PUMP_TESTS,
    ),
    breaking("the next batch waits for the poll", PUMP, "    if lane.rows:\n", "    if lane is None:\n", PUMP_TESTS),
    breaking(
        "a cancelled row is sent",
        LANE,
        "if not await parts.outbox.cleared(row, parts.owner, ctx.clock.now_ms()):",
        "if await parts.outbox.cleared(row, parts.owner, ctx.clock.now_ms()) is None:",
        PUMP_TESTS,
    ),
    breaking(
        "rows not sent wait for the attempt in flight",
        LANE,
        "            nursery.start_soon(_release_at_stop, ctx, parts, unsent)\n",
        "",
        PUMP_STOP_TESTS,
    ),
    breaking(
        "a cut attempt frees its row",
        LANE,
        "    finally:\n        await _release(ctx, parts, unsent)",
        "    finally:\n        await _release(ctx, parts, [*in_hand, *unsent])",
        PUMP_STOP_TESTS,
    ),
    breaking(
        "an attempt begins after the stop",
        LANE,
        "while unsent and not ctx.stopping:",
        "while unsent:",
        PUMP_STOP_TESTS,
    ),
    breaking(
        "an answer is lost to the end of the grace",
        LANE,
        "    with ctx.settling():\n        await parts.outbox.record(",
        "    with trio.fail_after(5):\n        await parts.outbox.record(",
        PUMP_STOP_TESTS,
    ),
    breaking(
        "a drain does not wait for its lanes",
        PUMP,
        "await lane.over.wait()",
        "await trio.lowlevel.checkpoint()",
        DRAIN_TESTS,
    ),
)

CONTRACTS = (
    breaking(
        "the fake of the slots never ends a lease",
        "tests/actors/fakes.py",
        "return slot in self.leases and self.until.get(slot, now + 1) > now",
        "return slot in self.leases",
        ("tests/contracts/test_slot_store.py",),
    ),
    breaking(
        "the fake of the slots runs again what is over",
        "tests/actors/fakes.py",
        "            self.over.add(run.slot)\n",
        "            pass\n",
        ("tests/contracts/test_slot_store.py",),
    ),
    breaking(
        "the fake of the outbox gives rows in the order of their making",
        "tests/actors/fake_outbox.py",
        "rows = sorted(due, key=lambda row: row.due_at)[:n]",
        "rows = due[:n]",
        ("tests/contracts/test_outbox_store.py",),
    ),
    breaking(
        "the fake of the sweep ends a slot twice",
        "tests/actors/fake_sweep.py",
        "        self.beyond.remove(slot)\n",
        "        pass\n",
        ("tests/contracts/test_sweep_store.py",),
    ),
    breaking(
        "the fake of the clock opens what no plan fires",
        "tests/actors/fake_fires.py",
        "        if fire.plan not in self.plans:\n",
        "        if fire.plan is None:\n",
        ("tests/contracts/test_fires.py",),
    ),
    breaking(
        "the ledger's sweep ends what can be rescued",
        "pixivflow/ledger/sweeps.py",
        "reason = stall.verdict(slot, limits, now) if slot else None",
        "reason = ReasonCode.QUEUED_TOO_LONG if slot else None",
        ("tests/contracts/test_sweep_store.py",),
    ),
    breaking(
        "the ledger defers rows by claiming them",
        "pixivflow/ledger/stores.py",
        "        await self._ledger.write(deferrals.defer, RouteName(route), n, why, at, every_ms)\n",
        '        await self._ledger.write(outbox.claim, RouteName(route), n, Owner("nobody"), at, every_ms)\n',
        ("tests/contracts/test_outbox_store.py",),
    ),
)

ROWS = (*CANCELLATION, *LETTERS, *TREE, *RUN, *OUTBOX, *CONTRACTS)
