"""The clock and the door: which fire, what is owed, who is let in, what is written down, and who cannot hold a stop."""

from tests.sabotages import Sabotage

CRON = "pixivflow/scheduling/cron.py"
OCCURRENCE = "pixivflow/scheduling/occurrence.py"
CATCHUP = "pixivflow/scheduling/catchup.py"
DISPOSITION = "pixivflow/scheduling/disposition.py"
SCHEDULER = "actors/scheduler.py"
IDLE = "actors/idle_lifecycle.py"
FIRES = "pixivflow/ledger/fires.py"
ADMISSION = "pixivflow/scheduling/admission.py"
TICKS = "pixivflow/scheduling/ticks.py"
RESOLVED = "pixivflow/daemon/resolved.py"
OWED = "pixivflow/ledger/owed.py"
TRIGGERS = "pixivflow/ledger/triggers.py"
COUNTS = "pixivflow/ledger/refusals.py"
AUTH = "pixivflow/control/auth.py"
LABELS = "pixivflow/control/labels.py"
ROUTE = "pixivflow/control/triggers.py"
VISIT = "pixivflow/control/visit.py"
WIRE = "pixivflow/control/wire.py"
APP = "pixivflow/control/app.py"
FRONT = "pixivflow/control/front.py"
SERVER = "pixivflow/control/server.py"
SERVE = "pixivflow/control/serve.py"
KEEPER = "pixivflow/control/refusals.py"

CRON_TESTS = ("tests/unit/scheduling/test_cron.py",)
OCCURRENCE_TESTS = ("tests/unit/scheduling/test_occurrence.py",)
CATCHUP_TESTS = ("tests/unit/scheduling/test_catchup.py",)
DISPOSITION_TESTS = ("tests/unit/scheduling/test_disposition.py",)
SCHEDULER_TESTS = ("tests/actors/test_scheduler.py",)
IDLE_TESTS = ("tests/actors/test_idle_lifecycle.py",)
FIRES_TESTS = ("tests/ledger/test_fires.py",)
ADMISSION_TESTS = ("tests/unit/scheduling/test_admission.py",)
TICKS_TESTS = ("tests/unit/scheduling/test_ticks.py",)
RESOLVED_TESTS = ("tests/daemon/test_resolved.py",)
OWED_TESTS = ("tests/ledger/test_owed.py",)
TRIGGER_TESTS = ("tests/ledger/test_triggers.py",)
COUNT_TESTS = ("tests/ledger/test_triggers_refusals.py",)
AUTH_TESTS = ("tests/unit/control/test_auth.py",)
LABEL_TESTS = ("tests/unit/control/test_labels.py",)
ROUTE_TESTS = ("tests/unit/control/test_triggers.py", "tests/unit/control/test_triggers_requests.py")
JOURNAL_TESTS = ("tests/unit/control/test_triggers_journal.py",)
LEAVING_TESTS = ("tests/unit/control/test_leaving.py",)
KEEPER_TESTS = ("tests/unit/control/test_refusals.py",)
FRONT_TESTS = ("tests/unit/control/test_front.py",)
WIRE_TESTS = ("tests/unit/control/test_wire.py",)
ROUTES_TESTS = ("tests/edges/control/test_routes.py",)
CONNECTION_TESTS = ("tests/edges/control/test_connections.py",)
STOP_TESTS = ("tests/edges/control/test_stop.py",)
IMPORT_TESTS = ("tests/edges/control/test_imports.py",)

CALLERS = (
    Sabotage(
        name="a damaged ledger is written to for a trigger",
        file=ROUTE,
        find='== "ledger_damaged":',
        replace='== "never":',
        tests=ROUTE_TESTS,
    ),
    Sabotage(
        name="a first request that is none breaks the connection's own code",
        file=SERVER,
        find="        self._answered = trio.Event()\n        self._answered.set()\n",
        replace="",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="who says no more has gone",
        file=SERVER,
        find="            if self.protocol.connection.their_state in WHOLE:",
        replace="            if None:",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="who leaves leaves no row",
        file=ROUTE,
        find="        await _keep(visit, GONE, triggers.depart)\n",
        replace="",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="who leaves after the commit has two rows",
        file=TRIGGERS,
        find="    return None if known else keep(db, arrival, end)",
        replace="    return keep(db, arrival, end)",
        tests=TRIGGER_TESTS,
    ),
)

CLOCKS = (
    Sabotage(
        name="a seconds field is read as minutes",
        file=CRON,
        find="    if len(fields) != 5:",
        replace="    if len(fields) not in (5, 6):",
        tests=CRON_TESTS,
    ),
    Sabotage(
        name="a repeated hour fires twice for a fixed time",
        file=CRON,
        find="return (first, second) if self.follows_real_time else (first,)",
        replace="return (first, second)",
        tests=CRON_TESTS,
    ),
    Sabotage(
        name="a skipped hour is skipped for a fixed time",
        file=CRON,
        find="return () if self.follows_real_time else (self._end_of_gap(second, first),)",
        replace="return ()",
        tests=CRON_TESTS,
    ),
    Sabotage(
        name="real time fires in an hour that it does not have",
        file=CRON,
        find="return () if self.follows_real_time else (self._end_of_gap(second, first),)",
        replace="return (self._end_of_gap(second, first),)",
        tests=CRON_TESTS,
    ),
    Sabotage(
        name="the second pass of an hour forgets the first",
        file=CRON,
        find="start = self._reading(at) + self._set_back_between(at - DAY_MS, at) + SECOND",
        replace="start = self._reading(at) + SECOND",
        tests=CRON_TESTS,
    ),
    Sabotage(
        name="the first pass of an hour does not see the second",
        file=CRON,
        find="self._reading(at) - self._set_back_between(at, at + DAY_MS)",
        replace="self._reading(at)",
        tests=CRON_TESTS,
    ),
    Sabotage(
        name="a fire is followed by itself",
        file=CRON,
        find="found += [instant for instant in instants if instant > at]",
        replace="found += [instant for instant in instants if instant >= at]",
        tests=CRON_TESTS,
    ),
    Sabotage(
        name="a tick is late by the fire before it",
        file=CRON,
        find="found += [instant for instant in instants if instant <= at]",
        replace="found += [instant for instant in instants if instant < at]",
        tests=CRON_TESTS,
    ),
    Sabotage(
        name="a plan that fires often is always named too early",
        file=OCCURRENCE,
        find="after - at <= min(LEAD_MS, (after - before) / 2)",
        replace="after - at <= LEAD_MS",
        tests=OCCURRENCE_TESTS,
    ),
    Sabotage(
        name="the window loses its first instant",
        file=OCCURRENCE,
        find="    if now < occurrence.at - LEAD_MS:",
        replace="    if now <= occurrence.at - LEAD_MS:",
        tests=OCCURRENCE_TESTS,
    ),
    Sabotage(
        name="the window loses its last instant",
        file=OCCURRENCE,
        find="    if now > occurrence.at + grace_ms:",
        replace="    if now >= occurrence.at + grace_ms:",
        tests=OCCURRENCE_TESTS,
    ),
    Sabotage(
        name="a slot is named by UTC",
        file=OCCURRENCE,
        find="wall = datetime.fromtimestamp(fire / 1000, zone)",
        replace="wall = datetime.fromtimestamp(fire / 1000, cron('* * * * *', UTC).zone)",
        tests=OCCURRENCE_TESTS,
    ),
    Sabotage(
        name="a first install catches up",
        file=CATCHUP,
        find="    if last_end is None:\n        return None\n",
        replace="    last_end = last_end or 0\n",
        tests=CATCHUP_TESTS,
    ),
    Sabotage(
        name="catch-up runs a plan that missed nothing",
        file=CATCHUP,
        find="if first is not None and first <= now else None",
        replace="if first is not None else None",
        tests=CATCHUP_TESTS,
    ),
)

ACTORS = (
    Sabotage(
        name="a fire that could not be opened is forgotten",
        file=SCHEDULER,
        find="            left.append(fire)\n",
        replace="",
        tests=SCHEDULER_TESTS,
    ),
    Sabotage(
        name="the clock sleeps until the next fire however far it is",
        file=SCHEDULER,
        find="return parts.sleep_ms if next_at is None else min(parts.sleep_ms, max(0, next_at - now))",
        replace="return parts.sleep_ms if next_at is None else max(0, next_at - now)",
        tests=SCHEDULER_TESTS,
    ),
    Sabotage(
        name="catching up is not part of the start",
        file=SCHEDULER,
        find="    left = await _open(ctx, parts, await parts.fires.missed(seen_at))\n    ctx.started()\n",
        replace="    ctx.started()\n    left = await _open(ctx, parts, await parts.fires.missed(seen_at))\n",
        tests=SCHEDULER_TESTS,
    ),
    Sabotage(
        name="slow opening looks like a clock that was set",
        file=SCHEDULER,
        find="        left = await _open(ctx, parts, due.values())\n",
        replace="        left = await _open(ctx, parts, due.values())\n        seen_s = trio.current_time()\n",
        tests=SCHEDULER_TESTS,
    ),
    Sabotage(
        name="a clock that was set goes unnamed",
        file=SCHEDULER,
        find="    if abs(by_ms) > parts.jump_ms:",
        replace="    if by_ms > 10**12:",
        tests=SCHEDULER_TESTS,
    ),
    Sabotage(
        name="the last look is made with an open door",
        file=IDLE,
        find="    parts.door(False)\n    owed = await _look(ctx, parts)\n",
        replace="    owed = await _look(ctx, parts)\n    parts.door(False)\n",
        tests=LEAVING_TESTS,
    ),
    Sabotage(
        name="a failed look counts as idleness",
        file=IDLE,
        find='        ctx.note("idle.look_failed", error=error)\n        return None',
        replace='        ctx.note("idle.look_failed", error=error)\n        return Owed()',
        tests=IDLE_TESTS,
    ),
    Sabotage(
        name="a failed look cancels the window",
        file=IDLE,
        find="    if owed is None:\n        return opened_s\n",
        replace="    if owed is None:\n        return None\n",
        tests=IDLE_TESTS,
    ),
    Sabotage(
        name="work leaves the window as it was",
        file=IDLE,
        find='            ctx.note("idle.window_cancelled", **owed.counters())\n        return None',
        replace='            ctx.note("idle.window_cancelled", **owed.counters())\n        return opened_s',
        tests=IDLE_TESTS,
    ),
    Sabotage(
        name="the door stays closed although something is owed",
        file=IDLE,
        find="    if owed is None or owed:\n        parts.door(True)\n",
        replace="",
        tests=IDLE_TESTS,
    ),
    Sabotage(
        name="a spent lifetime is no reason to leave",
        file=IDLE,
        find="        if _spent(armed_s, parts.max_lifetime_ms):",
        replace="        if opened_s is not None and _spent(armed_s, parts.max_lifetime_ms):",
        tests=IDLE_TESTS,
    ),
    Sabotage(
        name="what a start ended sends its caller away",
        file=IDLE,
        find="        if not worked and not _spent(armed_s, parts.poll_ms):",
        replace="        if not _spent(armed_s, 0):",
        tests=IDLE_TESTS,
    ),
    Sabotage(
        name="a new life leaves the door closed",
        file=IDLE,
        find="    parts.door(True)  # a life that ended behind the closed door left it so\n",
        replace="",
        tests=IDLE_TESTS,
    ),
)

ROWS_OF_THE_CLOCK = (
    Sabotage(
        name="a tick of a busy plan opens a slot",
        file=ADMISSION,
        find="    if any(run.plan == plan.id for run in busy):",
        replace="    if not plan:",
        tests=(*ADMISSION_TESTS, *FIRES_TESTS),
    ),
    Sabotage(
        name="a tick beyond a limit opens a slot",
        file=FIRES,
        find="    if reason := over_limit(plan, executions.facts(db, plan), now):\n        return Refused(reason)\n",
        replace="",
        tests=FIRES_TESTS,
    ),
    Sabotage(
        name="plans fire beside a clock outside",
        file=RESOLVED,
        find='return plans if runtime.mode == "internal" else ()',
        replace="return plans",
        tests=(*RESOLVED_TESTS, *FIRES_TESTS),
    ),
    Sabotage(
        name="catch-up does not ask whether it is wanted",
        file=RESOLVED,
        find="return ticking(runtime, plans) if runtime.catch_up_missed_runs else ()",
        replace="return ticking(runtime, plans)",
        tests=(*RESOLVED_TESTS, *FIRES_TESTS),
    ),
    Sabotage(
        name="a plan without a cron line may tick",
        file=TICKS,
        find='return plan.is_armed and plan.cron.strip() != ""',
        replace="return plan.is_armed",
        tests=(*TICKS_TESTS, *ADMISSION_TESTS),
    ),
    Sabotage(
        name="a tick of a plan without targets opens a slot",
        file=ADMISSION,
        find='return Opening(plan=plan, targets=targets) if targets else Refused("no_targets")',
        replace="return Opening(plan=plan, targets=targets)",
        tests=(*ADMISSION_TESTS, *FIRES_TESTS),
    ),
    Sabotage(
        name="every fire since the last look is due",
        file=TICKS,
        find="if at is not None and at > since]",
        replace="if at is not None]",
        tests=TICKS_TESTS,
    ),
    Sabotage(
        name="an owner lets a slot count for nothing",
        file=OWED,
        find="WHERE status IN ('pending', 'running')),",
        replace="WHERE status IN ('pending', 'running') AND lease_until IS NULL),",
        tests=OWED_TESTS,
    ),
    Sabotage(
        name="a delivery that waits for its retry is nobody's",
        file=OWED,
        find="status IN ('pending', 'retry_wait', 'processing') AND status <> 'processing'",
        replace="status IN ('pending', 'processing') AND status <> 'processing'",
        tests=OWED_TESTS,
    ),
    Sabotage(
        name="the last word does not queue",
        file=OWED,
        find="return self._with_runs(await self._ledger.write(count))",
        replace="return self._with_runs(await self._ledger.read(count))",
        tests=LEAVING_TESTS,
    ),
    Sabotage(
        name="a run that waits for its lane is not seen",
        file=OWED,
        find="waiting_for_resource=len(live) - begun",
        replace="waiting_for_resource=0",
        tests=OWED_TESTS,
    ),
)

JOURNAL = (
    Sabotage(
        name="the row of a request begins as accepted",
        file=TRIGGERS,
        find="    return End(disposition=Disposition.ERROR, http_status=NO_ANSWER)",
        replace="    return End(disposition=Disposition.ACCEPTED, http_status=202)",
        tests=TRIGGER_TESTS,
    ),
    Sabotage(
        name="a journal that fails costs the slot",
        file=TRIGGERS,
        find="        if not db.in_transaction or code_of(error) in FATAL:\n            raise\n",
        replace="        raise\n",
        tests=TRIGGER_TESTS,
    ),
    Sabotage(
        name="an error that ended the transaction is hidden",
        file=TRIGGERS,
        find="        if not db.in_transaction or code_of(error) in FATAL:\n            raise\n",
        replace="",
        tests=TRIGGER_TESTS,
    ),
    Sabotage(
        name="a later word changes an answer that was given",
        file=TRIGGERS,
        find="WHERE id = :id AND http_status = 0",
        replace="WHERE id = :id",
        tests=TRIGGER_TESTS,
    ),
    Sabotage(
        name="old rows are kept for ever",
        file=KEEPER,
        find="before = ctx.clock.now_ms() - KEPT_MS",
        replace="before = ctx.clock.now_ms() - 10 * KEPT_MS",
        tests=KEEPER_TESTS,
    ),
    Sabotage(
        name="strangers fill the file",
        file=COUNTS,
        find="or len(known) < ROWS_A_DAY - len(UNAUTHENTICATED)",
        replace="or len(known) < ROWS_A_DAY * 1_000",
        tests=COUNT_TESTS,
    ),
    Sabotage(
        name="what has no row of its own is not counted",
        file=COUNTS,
        find="        more[row or newest[each.disposition]] += n",
        replace="        more[row or 0] += n",
        tests=COUNT_TESTS,
    ),
    Sabotage(
        name="every stranger is told apart in memory",
        file=KEEPER,
        find="        if kind not in self._counts and len(self._counts) >= KEYS_MAX:",
        replace="        if kind is None:",
        tests=KEEPER_TESTS,
    ),
    Sabotage(
        name="counts that could not be written are lost",
        file=KEEPER,
        find="                self._add(kind, n)\n",
        replace="                del kind, n\n",
        tests=KEEPER_TESTS,
    ),
    Sabotage(
        name="every stranger buys a write",
        file=KEEPER,
        find="            await trio.sleep(FLUSH_S)\n",
        replace="",
        tests=KEEPER_TESTS,
    ),
)

ROUTE_ROWS = (
    Sabotage(
        name="a blank token opens",
        file=AUTH,
        find="    if not token:\n        return Entry.DISABLED\n",
        replace="",
        tests=AUTH_TESTS,
    ),
    Sabotage(
        name="the beginning of a token is enough",
        file=AUTH,
        find="    matches = compare_digest(_digest(token), _digest(given[len(SCHEME) :].strip()))",
        replace="    matches = token.startswith(given[len(SCHEME) :].strip())",
        tests=AUTH_TESTS,
    ),
    Sabotage(
        name="a label breaks the line of a log",
        file=LABELS,
        find='    cleaned = unwanted.sub("", (text or "").strip())',
        replace='    cleaned = (text or "").strip()',
        tests=LABEL_TESTS,
    ),
    Sabotage(
        name="a token in the wrong header is written down",
        file=LABELS,
        find="    if len(hidden) >= SHORTEST and hidden in cleaned:\n        return None\n",
        replace="",
        tests=ROUTE_TESTS,
    ),
    Sabotage(
        name="a request is received once it is let in",
        file=ROUTE,
        find="    visit.tell_received()\n    outcome = GONE\n",
        replace="    outcome = GONE if await _outcome(visit, refusals, asked) else GONE\n    visit.tell_received()\n",
        tests=ROUTE_TESTS,
    ),
    Sabotage(
        name="a process that leaves takes what comes",
        file=ROUTE,
        find="    if parts.leaving():\n",
        replace="    if parts is None:\n",
        tests=LEAVING_TESTS,
    ),
    Sabotage(
        name="something waits between the look at the door and the write",
        file=ROUTE,
        find="    ledger, clock = visit.parts.ledger",
        replace="    from trio import sleep\n    await sleep(1)\n    ledger, clock = visit.parts.ledger",
        tests=LEAVING_TESTS,
    ),
    Sabotage(
        name="a plan that is off opens a slot",
        file=ROUTE,
        find="    if not plan.enabled:\n",
        replace="    if plan is None:\n",
        tests=ROUTE_TESTS,
    ),
    Sabotage(
        name="a slot that is over is offered",
        file=ROUTE,
        find="    admission = Refused(COMPLETED) if accepted.is_over else await visit.parts.offer(slot.id)",
        replace="    admission = await visit.parts.offer(slot.id)",
        tests=ROUTE_TESTS,
    ),
    Sabotage(
        name="a full disk is a fault of the program",
        file=ROUTE,
        find="    except Unavailable as error:  # nothing",
        replace="    except ZeroDivisionError as error:  # nothing",
        tests=JOURNAL_TESTS,
    ),
    Sabotage(
        name="what was taken is taken back for want of a second write",
        file=ROUTE,
        find="        disposition, reason = dispose(admission, is_over=accepted.is_over, is_leased=False)\n",
        replace="        raise\n",
        tests=JOURNAL_TESTS,
    ),
    Sabotage(
        name="a refusal leaves no row",
        file=ROUTE,
        find="    if isinstance(judged, Outcome):\n        await _keep(visit, judged)\n",
        replace="    if isinstance(judged, Outcome):\n",
        tests=JOURNAL_TESTS,
    ),
    Sabotage(
        name="a caller that went away leaves no word",
        file=ROUTE,
        find="    finally:\n        visit.tell_outcome(outcome)\n    return outcome.reply",
        replace="    visit.tell_outcome(outcome)\n    return outcome.reply",
        tests=JOURNAL_TESTS,
    ),
    Sabotage(
        name="a log that fails is a failed request",
        file=VISIT,
        find="        with suppress(Exception):\n            self.parts.note(event",
        replace="        with suppress(ZeroDivisionError):\n            self.parts.note(event",
        tests=JOURNAL_TESTS,
    ),
    Sabotage(
        name="the beginning of a name is a plan",
        file=VISIT,
        find='        asked_for = asked_for[:ID_MAX] + "..."',
        replace="        asked_for = asked_for[:ID_MAX]",
        tests=ROUTE_TESTS,
    ),
    Sabotage(
        name="who runs the slot is not asked",
        file=DISPOSITION,
        find="    if is_leased:\n        return Disposition.ALREADY_RUNNING, admission.reason\n",
        replace="",
        tests=DISPOSITION_TESTS,
    ),
    Sabotage(
        name="deep junk is a fault of the program",
        file=WIRE,
        find="    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):",
        replace="    except (msgspec.DecodeError, UnicodeDecodeError):",
        tests=WIRE_TESTS,
    ),
    Sabotage(
        name="an unknown path is a page",
        file=APP,
        find="    @app.errorhandler(HTTPException)\n",
        replace="",
        tests=ROUTES_TESTS,
    ),
    Sabotage(
        name="a wrong method is not told the right one",
        file=APP,
        find='{"allow": ", ".join(sorted(error.valid_methods or ()))} if isinstance(error, MethodNotAllowed) else {}',
        replace="{}",
        tests=ROUTES_TESTS,
    ),
    Sabotage(
        name="the status is open to everybody",
        file=APP,
        find='        _let_in(parts, refusals, "status")\n',
        replace="",
        tests=ROUTES_TESTS,
    ),
)

CONNECTIONS = (
    Sabotage(
        name="the end of an answer is the client's going",
        file=FRONT,
        find='        if message["type"] == "http.disconnect" and self._is_last:',
        replace='        if message["type"] == "nothing" and self._is_last:',
        tests=FRONT_TESTS,
    ),
    Sabotage(
        name="a client that goes on sending wedges an open route",
        file=FRONT,
        find="            nursery.start_soon(self._swallow)\n",
        replace="",
        tests=FRONT_TESTS,
    ),
    Sabotage(
        name="a web page may call by another name",
        file=FRONT,
        find="        if self._hosts is not None and host_of(scope) not in self._hosts:",
        replace="        if self._hosts is None and host_of(scope) is None:",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="an error of the application is nobody's",
        file=FRONT,
        find="            if not word.begun:\n",
        replace="            if word.begun is None:\n",
        tests=FRONT_TESTS,
    ),
    Sabotage(
        name="a client that does not read holds the stop",
        file=SERVER,
        find="                with trio.fail_after(WRITE_S):\n",
        replace="                with trio.CancelScope(shield=True):\n",
        tests=STOP_TESTS,
    ),
    Sabotage(
        name="a client that does not read keeps its place",
        file=SERVER,
        find="                with trio.fail_after(WRITE_S):\n",
        replace="                with trio.CancelScope():\n",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="HTTP/2 in clear",
        file=SERVER,
        find="    async def _check_protocol(self, event: h11.Request) -> None:\n        return\n",
        replace="    pass\n",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="who has gone keeps a place",
        file=SERVER,
        find="                await self.idle_task.stop()  #",
        replace="                pass  #",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="the server tells its name",
        file=SERVER,
        find="    config.include_server_header = False\n",
        replace="",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="a broken connection ends the door",
        file=SERVE,
        find="    except* Exception as group:  # a cancellation",
        replace="    except* ZeroDivisionError as group:  # a cancellation",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="any number of connections",
        file=SERVE,
        find="        await self._places.acquire()\n",
        replace="        self._places.release()\n        await self._places.acquire()\n",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="those who idle are cut when the grace is over",
        file=SERVE,
        find="        await desk.close()\n",
        replace="",
        tests=STOP_TESTS,
    ),
    Sabotage(
        name="nobody is cut when the grace is over",
        file=SERVE,
        find="        connections.cancel_scope.deadline = trio.current_time() + GRACE_S\n",
        replace="",
        tests=STOP_TESTS,
    ),
    Sabotage(
        name="the counts of the last second are lost",
        file=SERVE,
        find="    await refusals.flush(ctx)\n",
        replace="",
        tests=STOP_TESTS,
    ),
    Sabotage(
        name="a life takes its sockets with it",
        file=SERVE,
        find="    copy = bound.dup()\n",
        replace="    copy = bound\n",
        tests=STOP_TESTS,
    ),
    Sabotage(
        name="the door waits for Quart",
        file=SERVE,
        find="from pixivflow.control.front import App, Front\n",
        replace="import quart_trio  # noqa: F401\n\nfrom pixivflow.control.front import App, Front\n",
        tests=IMPORT_TESTS,
    ),
    Sabotage(
        name="a body may be as large as it likes",
        file=APP,
        find="    if size > BODY_MAX:\n        raise Failed(413, TEXTS[413])\n",
        replace="",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="a body may take as long as it likes",
        file=APP,
        find="        with trio.fail_after(within_ms / 1000):\n",
        replace="        with trio.fail_after(10_000):\n",
        tests=CONNECTION_TESTS,
    ),
    Sabotage(
        name="a large body is read without end",
        file=APP,
        find="                if size > SWALLOWED_MAX:\n                    break\n",
        replace="",
        tests=CONNECTION_TESTS,
    ),
)

ROWS = (*CALLERS, *CLOCKS, *ACTORS, *ROWS_OF_THE_CLOCK, *JOURNAL, *ROUTE_ROWS, *CONNECTIONS)
