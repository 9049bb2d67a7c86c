"""The walk of a run: what is chosen, bound, brought, recorded and told."""

from tests.sabotages import Sabotage

ATTEMPT = "pixivflow/slots/attempt.py"
TURN = "pixivflow/slots/turn.py"
COORDINATOR = "pixivflow/slots/coordinator.py"
PARTS = "pixivflow/slots/parts.py"
SETBACKS = "pixivflow/slots/setbacks.py"
TALLY = "pixivflow/slots/tally.py"
ROLLUP = "pixivflow/slots/rollup.py"
WORKS = "pixivflow/ledger/works.py"
ARTIFACTS = "pixivflow/ledger/artifacts.py"
RUN_STORE = "pixivflow/ledger/run_store.py"
SETTLE = "pixivflow/delivery/settle.py"
WALK = "pixivflow/selection/walk.py"
CANDIDATES = "pixivflow/selection/candidates.py"
PLANNER = "pixivflow/selection/planner.py"
FILTERS = "pixivflow/selection/filters.py"
IDENTITY = "pixivflow/selection/identity.py"
TARGET = "pixivflow/selection/target.py"
RANKING = "pixivflow/selection/ranking.py"

ONE = ("tests/unit/slots/test_coordinator_one.py",)
MANY = ("tests/unit/slots/test_coordinator_many.py",)
RESUME = ("tests/unit/slots/test_coordinator_resume.py",)
PASSES = ("tests/unit/slots/test_coordinator_passes.py",)
CANCEL = ("tests/unit/slots/test_coordinator_cancel.py",)
SETBACK_TESTS = ("tests/unit/slots/test_setbacks.py",)
TALLY_TESTS = ("tests/unit/slots/test_tally.py",)
WORK_TESTS = ("tests/ledger/test_works.py",)
CRASHES = ("tests/ledger/test_walk_crashes.py",)
FILE_TESTS = ("tests/ledger/test_artifacts.py",)
STORE_TESTS = ("tests/ledger/test_run_store.py",)
CHOICE = "tests/unit/selection"

WALKED = (
    Sabotage(
        name="a work is fetched before its cell is bound",
        file=ATTEMPT,
        find="    if turn.binds:\n        binding =",
        replace="    await parts.fetcher.fetch(detail, turn.target, (), parts.threads)\n"
        "    if turn.binds:\n        binding =",
        tests=ONE,
    ),
    Sabotage(
        name="a lost binding is ignored",
        file=ATTEMPT,
        find="        if not binding.won:\n            return Taken(binding.work)\n",
        replace="",
        tests=ONE,
    ),
    Sabotage(
        name="a candidate that failed stays bound",
        file=TURN,
        find="                if turn.binds:\n                    await parts.cells.release(cell.target_id, work)\n",
        replace="",
        tests=ONE,
    ),
    Sabotage(
        name="a request that a cancellation broke passes its work over",
        file=ATTEMPT,
        find="            await trio.lowlevel.checkpoint_if_cancelled()  #",
        replace="            #",
        tests=CANCEL,
    ),
    Sabotage(
        name="a list that a cancellation broke is an outcome",
        file=TURN,
        find="        await trio.lowlevel.checkpoint_if_cancelled()  # a list",
        replace="        pass  # a list",
        tests=CANCEL,
    ),
    Sabotage(
        name="a held work is searched for again",
        file=TURN,
        find="        return await (_searched(turn) if turn.held is None else _resumed(turn, turn.held))",
        replace="        return await _searched(turn)",
        tests=RESUME,
    ),
    Sabotage(
        name="a held work that is gone is given back",
        file=TURN,
        find="    turn.tally.skips.append(got)\n",
        replace="    await turn.parts.cells.release(turn.cell.target_id, work)\n    turn.tally.skips.append(got)\n",
        tests=RESUME,
    ),
    Sabotage(
        name="a held work that did not answer is given up",
        file=TURN,
        find="            words, retryable, code = SAME_AGAIN, True, reason_of(got.cause)",
        replace="            words, retryable, code = LOCKED, False, ReasonCode.METADATA_FAILED",
        tests=RESUME,
    ),
    Sabotage(
        name="a dead login ends the cell that holds a work",
        file=TURN,
        find="    if isinstance(error, Unavailable | AuthNeeded):",
        replace="    if isinstance(error, Unavailable):",
        tests=RESUME,
    ),
    Sabotage(
        name="a work that could not be promised is no longer the cell's",
        file=ATTEMPT,
        find="        if turn.binds:\n            words = ",
        replace="        if not turn.binds:\n            words = ",
        tests=RESUME,
    ),
    Sabotage(
        name="a work that may serve another time is an empty day",
        file=TURN,
        find="    if skip is not None:",
        replace="    if skip is not None and turn.cell.stored_count:",
        tests=ONE,
    ),
    Sabotage(
        name="an outage is passed over like a work",
        file=ATTEMPT,
        find="                case OfTheRun():\n                    raise\n                case OfTheWork",
        replace="                case OfTheRun(outage):\n"
        "                    return Skip(code=SkipCode.UNAVAILABLE, work_id=work.work_id, reason=outage)\n"
        "                case OfTheWork",
        tests=ONE,
    ),
    Sabotage(
        name="a bug is passed over like a work that did not answer",
        file=ATTEMPT,
        find="    if isinstance(failed, Passing) and failed.is_bug:",
        replace="    if isinstance(failed, Passing) and failed.is_bug and turn.held is not None:",
        tests=ONE,
    ),
    Sabotage(
        name="a bug after a work that was stored is told like an outage",
        file=TURN,
        find="        if isinstance(error, Broken):\n            turn",
        replace="        if None:\n            turn",
        tests=MANY,
    ),
    Sabotage(
        name="one attempt is all a work gets",
        file=ATTEMPT,
        find="                    if tries >= parts.max_tries:",
        replace="                    if tries >= 1:",
        tests=ONE,
    ),
    Sabotage(
        name="a target that breaks ends the run",
        file=TURN,
        find="        return _failed(parts, cell, tally, unwrapped(raised))",
        replace="        raise",
        tests=ONE,
    ),
    Sabotage(
        name="a run that lost its slot goes on with the next cell",
        file=TURN,
        find="    except (NotOurs, LedgerLost):\n        raise\n    except Exception as raised:\n        await trio",
        replace="    except Exception as raised:\n        await trio",
        tests=CANCEL,
    ),
    Sabotage(
        name="a cut short target of many brings all of it again",
        file=TURN,
        find="turn.wish.limit - turn.cell.stored_count, made)",
        replace="turn.wish.limit, made)",
        tests=MANY,
    ),
    Sabotage(
        name="what was stored before an outage does not count",
        file=TURN,
        find="        if not made and not turn.cell.stored_count:\n            raise",
        replace="        if raised:\n            raise",
        tests=MANY,
    ),
    Sabotage(
        name="more works are brought than were wanted",
        file=TURN,
        find="        if len(made) == wanted:\n            return\n",
        replace="",
        tests=ONE,
    ),
    Sabotage(
        name="a cell that found nothing has no further pass",
        file=COORDINATOR,
        find="            if looks_again(cell, after, parts.stages):",
        replace="            if False:",
        tests=PASSES,
    ),
    Sabotage(
        name="a resumed cell looks no wider than in its first pass",
        file=TURN,
        find="choose(turn.target, wanted, cell.fallback_stage,",
        replace="choose(turn.target, wanted, 0,",
        tests=PASSES,
    ),
    Sabotage(
        name="targets are served by their names",
        file=COORDINATOR,
        find="parts.targets.items() if name in cells]",
        replace="sorted(parts.targets.items()) if name in cells]",
        tests=PASSES,
    ),
    Sabotage(
        name="an empty day is told without its numbers",
        file=COORDINATOR,
        find="    if cell.status is not CellStatus.NO_CANDIDATE:",
        replace="    if cell.status is not CellStatus.FAILED:",
        tests=PASSES,
    ),
    Sabotage(
        name="a cell that holds a work is one of many once its target asks for many",
        file=PARTS,
        find="        return self.wish.is_single or self.held is not None",
        replace="        return self.wish.is_single",
        tests=RESUME,
    ),
)

SORTED = (
    Sabotage(
        name="a full disk is one work's misfortune",
        file=SETBACKS,
        find="        case StorageFailed():\n            return STORAGE\n",
        replace="",
        tests=ONE,
    ),
    Sabotage(
        name="a work that is gone is tried again",
        file=SETBACKS,
        find="        case Gone():\n            return OfTheWork",
        replace="        case Gone():\n            return Passing",
        tests=SETBACK_TESTS,
    ),
    Sabotage(
        name="the other side's own wish to wait is ignored",
        file=SETBACKS,
        find="            return round(wish * 1000)",
        replace="            return base_ms",
        tests=ONE,
    ),
    Sabotage(
        name="pauses grow without end",
        file=SETBACKS,
        find="            return min(grown, LONGEST * base_ms)",
        replace="            return grown",
        tests=SETBACK_TESTS,
    ),
    Sabotage(
        name="a report grows until it cannot be kept",
        file=TALLY,
        find=" > REPORT_MAX and examples:",
        replace=" > 10 * REPORT_MAX and examples:",
        tests=TALLY_TESTS,
    ),
    Sabotage(
        name="an outage that a run left behind is forgotten by its end",
        file=ROLLUP,
        find="reason_for_failure(cell.last_error, told.outages)",
        replace="reason_for_failure(cell.last_error)",
        tests=TALLY_TESTS,
    ),
)

RECORDED = (
    Sabotage(
        name="a run records into a slot that is not its own",
        file=WORKS,
        find="    if slots.held(db, place.slot_id, place.owner) is None:\n        raise",
        replace="    if slots.read(db, place.slot_id) is None:\n        raise",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a cell takes the files of a work that it does not hold",
        file=WORKS,
        find="    if bringing.binds and (cell is None or cell.work_id != work.work_id or not cell.is_open):",
        replace="    if bringing.binds and cell is None:",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a work is recorded and its cell left behind",
        file=WORKS,
        find="        cells.change(db, place.slot_id, change, Role.RUN, now, owner=place.owner)\n\n\ndef _outcome",
        replace="        pass\n\n\ndef _outcome",
        tests=CRASHES,
    ),
    Sabotage(
        name="a work is promised to nobody",
        file=WORKS,
        find="enqueue.fan_out(db, order, bringing.promises, now)",
        replace="enqueue.fan_out(db, order, (), now)",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a cell keeps a work that every route has",
        file=WORKS,
        find="    elif is_known and not bringing.resumed:",
        replace="    elif is_known and bringing.resumed:",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a cell of many forgets how many it has",
        file=WORKS,
        find="            db.execute(COUNT, (place.slot_id, place.target_id))",
        replace="            pass",
        tests=CRASHES,
    ),
    Sabotage(
        name="what was stored before is new",
        file=WORKS,
        find="        stored |= artifacts.stored(db, work_type, ids)\n",
        replace="",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="what was promised before is new",
        file=WORKS,
        find="        served |= intents.excluded(db, routes, work_type, ids) if routes else set()\n",
        replace="",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="what a sibling holds is new",
        file=WORKS,
        find="        served |= _held_by_siblings(db, slot_id, target_id, work_type) & set(ids)\n",
        replace="",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a promise of its own counts as delivered",
        file=WORKS,
        find="[work.work_id], own=True)",
        replace="[work.work_id], own=False)",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="the last ACK of many is forgotten when it came early",
        file=WORKS,
        find="    if cell is not None and isinstance(outcome, Enqueued):",
        replace="    if cell is None and isinstance(outcome, Enqueued):",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a run that was given up writes on",
        file=RUN_STORE,
        find="        if self._live.revoked:",
        replace="        if self._live.revoked and self._live.settling:",
        tests=CANCEL,
    ),
    Sabotage(
        name="a cancellation cuts the record of files that have their names",
        file=RUN_STORE,
        find="            return await self._ledger.settle(works.bring,",
        replace="            return await self._ledger.write(works.bring,",
        tests=CANCEL,
    ),
    Sabotage(
        name="a busy ledger looks like a Pixiv that does not answer",
        file=RUN_STORE,
        find="        raise LedgerBusy(str(error)) from error",
        replace="        raise",
        tests=STORE_TESTS,
    ),
    Sabotage(
        name="the first ACK ends a cell that is still being filled",
        file=SETTLE,
        find="    if cell.is_filling:\n        return None\n",
        replace="",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="the first ACK speaks for all works of a cell",
        file=SETTLE,
        find="    if of_many:\n        return _of_many(facts)\n",
        replace="",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a cell of many is bound by its ACK",
        file=ROLLUP,
        find="            proven = None if cell.is_of_many else work",
        replace="            proven = work",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a file is recorded twice",
        file=ARTIFACTS,
        find="ON CONFLICT DO NOTHING",
        replace="ON CONFLICT (pixiv_id, type, file_path) DO UPDATE SET id = id + 1000",
        tests=FILE_TESTS,
    ),
    Sabotage(
        name="a work of no file counts as downloaded",
        file=ARTIFACTS,
        find="    if not filing.files:\n        raise",
        replace="    if filing.files is None:\n        raise",
        tests=FILE_TESTS,
    ),
    Sabotage(
        name="only the first four hundred works are asked about",
        file=ARTIFACTS,
        find="    for start in range(0, len(works), WORKS_AT_ONCE):",
        replace="    for start in range(0, min(len(works), 1), WORKS_AT_ONCE):",
        tests=FILE_TESTS,
    ),
)

CHOSEN = (
    Sabotage(
        name="known works eat the limit",
        file=WALK,
        find="            if is_over or new_count(walked) >= enough:",
        replace="            if is_over or len(walked.works) >= enough:",
        tests=MANY,
    ),
    Sabotage(
        name="known works are cut with the rest",
        file=WALK,
        find="        new += not _is_seen(work.id, seen)",
        replace="        new += 1",
        tests=(f"{CHOICE}/test_walk.py",),
    ),
    Sabotage(
        name="a list by date is read to its end",
        file=WALK,
        find="    return Step.STOP if is_beyond else Step.PASS",
        replace="    return Step.PASS",
        tests=(f"{CHOICE}/test_walk.py",),
    ),
    Sabotage(
        name="a work of two pages is tried twice",
        file=WALK,
        find="            case Step.TAKE if work.id not in met:",
        replace="            case Step.TAKE:",
        tests=(f"{CHOICE}/test_walk.py",),
    ),
    Sabotage(
        name="another week is asked for whatever went wrong",
        file=CANDIDATES,
        find="            except ItemError:",
        replace="            except Exception:",
        tests=(f"{CHOICE}/test_candidates.py",),
    ),
    Sabotage(
        name="a placeholder is taken for the work",
        file=CANDIDATES,
        find="        if not found.is_visible:",
        replace="        if found.is_visible is None:",
        tests=(f"{CHOICE}/test_candidates.py",),
    ),
    Sabotage(
        name="an id that is no number is asked for",
        file=CANDIDATES,
        find="        if not (work.work_id.isascii() and work.work_id.isdecimal()):",
        replace="        if not work.work_id.isdecimal():",
        tests=(f"{CHOICE}/test_candidates.py",),
    ),
    Sabotage(
        name="a work by its id goes to a route that has it",
        file=CANDIDATES,
        find="    return Choice(queue=() if skip else (work,),",
        replace="    return Choice(queue=(work,),",
        tests=(f"{CHOICE}/test_candidates.py",),
    ),
    Sabotage(
        name="known works are tried again",
        file=PLANNER,
        find="        skip = unwanted(work, target, window) or known(work.id, seen)",
        replace="        skip = unwanted(work, target, window)",
        tests=(f"{CHOICE}/test_planner.py",),
    ),
    Sabotage(
        name="a scan has no bound",
        file=PLANNER,
        find="for work in new[:bound])",
        replace="for work in new)",
        tests=(f"{CHOICE}/test_planner.py",),
    ),
    Sabotage(
        name="a machine's work is wanted after all",
        file=FILTERS,
        find="target.exclude_ai and is_ai(work)",
        replace="target.exclude_ai and work.ai_type == AI_MADE",
        tests=(f"{CHOICE}/test_filters.py",),
    ),
    Sabotage(
        name="a target of ten shrinks to one locked work",
        file=IDENTITY,
        find="        return target.limit == 1",
        replace="        return True",
        tests=(f"{CHOICE}/test_identity.py",),
    ),
    Sabotage(
        name="days begin at midnight in Greenwich",
        file=TARGET,
        find="JAPAN: Final = timezone(timedelta(hours=9))",
        replace="JAPAN: Final = timezone(timedelta(hours=0))",
        tests=(f"{CHOICE}/test_target.py",),
    ),
    Sabotage(
        name="today's ranking is asked for before there is one",
        file=TARGET,
        find="    return None if target.ranking_date is None else",
        replace="    return today(now).isoformat() if target.ranking_date is None else",
        tests=(f"{CHOICE}/test_target.py",),
    ),
    Sabotage(
        name="views count like bookmarks",
        file=RANKING,
        find="max(0, work.views) / 1000",
        replace="max(0, work.views)",
        tests=(f"{CHOICE}/test_ranking.py",),
    ),
)

ROWS = (*WALKED, *SORTED, *RECORDED, *CHOSEN)
