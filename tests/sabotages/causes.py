"""What the matter was, from the edge that met it to the words a person reads."""

from tests.sabotages import Sabotage

CAUSES = "pixivflow/slots/causes.py"
ROLLUP = "pixivflow/slots/rollup.py"
TALLY = "pixivflow/slots/tally.py"
TURN = "pixivflow/slots/turn.py"
SETBACKS = "pixivflow/slots/setbacks.py"
ANSWERS = "pixivflow/pixiv/answers.py"
CLIENT = "pixivflow/pixiv/client.py"
EXCHANGE = "pixivflow/pixiv/exchange.py"
GATE = "pixivflow/pixiv/gate.py"
LOGIN = "pixivflow/pixiv/login.py"
PAGE = "pixivflow/download/page.py"
TRANSFER = "pixivflow/download/transfer.py"
STORE = "pixivflow/download/store.py"
AUTH = "pixivflow/pixiv/auth.py"
BINDINGS = "pixivflow/ledger/bindings.py"

DRIVEN = ("tests/edges/test_causes.py",)
TOLD = ("tests/unit/slots/test_tally.py",)
CELLS = ("tests/ledger/test_cells_bindings.py",)


def broken(name: str, file: str, find: str, replace: str, tests: tuple[str, ...] = DRIVEN) -> Sabotage:
    return Sabotage(name=name, file=file, find=find, replace=replace, tests=tests)


REASONS = (
    broken("a limited account is a bug", CLIENT, ", wish_s, cause=Cause.LIMITED)", ", wish_s, cause=Cause.DEFECT)"),
    broken("an open circuit is a bug", GATE, "    cause = Cause.LIMITED\n", ""),
    broken("a reset line is a bug", EXCHANGE, "cause=Cause.UNREACHABLE", "cause=Cause.DEFECT"),
    broken("silence is a bug", EXCHANGE, "cause=Cause.TOO_SLOW", "cause=Cause.DEFECT"),
    broken(
        "what a lost answer was lost by is forgotten",
        CLIENT,
        "Broken(str(lost), lost.cause)",
        "Broken(str(lost), Cause.DEFECT)",
    ),
    broken("a page of HTML is a bug", ANSWERS, 'no JSON object", Cause.NONSENSE)', 'no JSON object", Cause.DEFECT)'),
    broken("a service that fails is a bug", ANSWERS, "Broken(text, Cause.SERVER)", "Broken(text, Cause.DEFECT)"),
    broken(
        "a login service that limits us only fails",
        LOGIN,
        "Cause.LIMITED if reply.status == 429 else Cause.SERVER",
        "Cause.SERVER",
    ),
    broken(
        "a picture that is none is a bug",
        PAGE,
        "error = Unavailable(words, cause=Cause.FILE_BROKEN)",
        "error = Unavailable(words)",
    ),
    broken("a slow picture is a broken one", TRANSFER, "cause=Cause.FILE_TOO_SLOW", "cause=Cause.FILE_BROKEN"),
    broken(
        "a limit of the image host is a broken picture",
        TRANSFER,
        ", wish, cause=Cause.LIMITED)",
        ", wish, cause=Cause.FILE_BROKEN)",
    ),
    broken("a disk that refuses is a bug", STORE, 'f"storage: {words}", cause=Cause.STORAGE)', 'f"storage: {words}")'),
    broken("why the last work did not come is forgotten", TURN, "None if skip is None else skip.cause", "None"),
    broken(
        "why a turn failed is forgotten",
        TURN,
        "    tally.cause = cause_of(error)\n",
        "    tally.cause = Cause.DEFECT\n",
    ),
    broken(
        "a work that did not come forgets why",
        SETBACKS,
        "reason=told(error), cause=cause_of(error)",
        "reason=told(error)",
    ),
    broken(
        "our own words are read for a reason",
        ROLLUP,
        "    if told.cause is not None:\n        return reason_of(told.cause)\n",
        "",
        TOLD,
    ),
    broken(
        "the words of an empty stage are read for a reason",
        ROLLUP,
        "    return None if told.is_ours else reason_for_failure",
        "    return reason_for_failure",
        TOLD,
    ),
    broken("a report keeps no cause", TALLY, '            "cause": self.cause,\n', "", TOLD),
    broken(
        "a failure outlives the stage it happened in",
        BINDINGS,
        "  candidate_report = :report, completed_at",
        "  completed_at",
        CELLS,
    ),
    broken(
        "a postcard is a delivery",
        CAUSES,
        '            _found(re.compile(r"\\bpost(?:s|ed|ing)?\\b")),\n',
        '            _any("post"),\n',
        ("tests/unit/slots/test_causes.py",),
    ),
)

NOTHING = "pixivflow/slots/nothing.py"
NOTHING_TESTS = ("tests/unit/slots/test_nothing.py",)
STORE_TESTS = ("tests/edges/download/test_store.py",)
LOGIN_TESTS = ("tests/edges/pixiv/test_login.py",)
SOURCE_TESTS = ("tests/edges/pixiv/test_source.py",)

WORDS = (
    broken(
        "works that were not looked at are not counted",
        NOTHING,
        "if left > 0 else []",
        "if left > 99 else []",
        NOTHING_TESTS,
    ),
    broken(
        "a filter does not say what it filtered",
        NOTHING,
        "    if code is not SkipCode.FILTERED:\n",
        "    if code:\n",
        NOTHING_TESTS,
    ),
    broken("all reasons of a filter are listed", NOTHING, "[:SHOWN]", "", NOTHING_TESTS),
    broken(
        "a lost answer names no host",
        EXCHANGE,
        'f"no answer from {_host(url)}: ',
        'f"no answer from Pixiv: ',
        SOURCE_TESTS,
    ),
    broken(
        "a late answer names no host",
        EXCHANGE,
        "whole answer from {_host(url)}",
        "whole answer from Pixiv",
        SOURCE_TESTS,
    ),
    broken("a lost picture names no host", TRANSFER, "image host{self._at()}: {", "image host: {", STORE_TESTS),
    broken("a late picture names no host", TRANSFER, "image host{self._at()} took", "image host took", STORE_TESTS),
    broken(
        "a disk that refuses names the part",
        STORE,
        "named.parent if named.name.startswith(PART) else named",
        "named",
        STORE_TESTS,
    ),
    broken(
        "a disk that refuses names no folder of its own",
        STORE,
        "if isinstance(error.filename, str | Path) else base",
        "if isinstance(error.filename, Path) else base",
        STORE_TESTS,
    ),
    broken(
        "a folder without a right to it is tried again",
        STORE,
        "errno.EACCES | errno.EPERM | errno.EROFS",
        "errno.EROFS",
        STORE_TESTS,
    ),
    broken("a user without room is another's error", STORE, "errno.ENOSPC | errno.EDQUOT", "errno.ENOSPC", STORE_TESTS),
    broken(
        "a process that may not log in blames the token",
        AUTH,
        "        if self._readonly:\n            return",
        "        if False:\n            return",
        LOGIN_TESTS,
    ),
    broken(
        "a missing token was refused",
        AUTH,
        'if tries else "it has no',
        'if tries is not None else "it has no',
        LOGIN_TESTS,
    ),
    broken(
        "the pace is told under a name of the log's own",
        GATE,
        "penalty=after.penalty_level",
        "level=after.penalty_level",
        ("tests/unit/observe/test_fields.py",),
    ),
)

SWEEPER = "actors/stall_sweeper.py"
SWEEPER_TESTS = ("tests/actors/test_stall_sweeper.py",)
STORES = "pixivflow/ledger/stores.py"
STORES_TESTS = ("tests/ledger/test_stores.py",)
LIFECYCLE = "pixivflow/daemon/lifecycle.py"

PASSES = (
    broken(
        "a refused recovery names nothing but the slot",
        SWEEPER,
        "reason=answer.reason, **found.about)",
        "reason=answer.reason)",
        SWEEPER_TESTS,
    ),
    broken(
        "a stalled slot is ended without a word of it",
        SWEEPER,
        "reason_code=swept.reason, **swept.about)",
        "reason_code=swept.reason)",
        SWEEPER_TESTS,
    ),
    broken(
        "what recovery skipped counts as reclaimed", SWEEPER, "skipped=stale - reclaimed", "skipped=0", SWEEPER_TESTS
    ),
    broken(
        "deliveries on their way are stale slots",
        SWEEPER,
        "stale += found.course is not Course.WAIT",
        "stale += 1",
        SWEEPER_TESTS,
    ),
    broken("the stall sweep does not add up", SWEEPER, "    if scanned:\n", "    if not scanned:\n", SWEEPER_TESTS),
    broken(
        "a stalled slot does not say since when",
        STORES,
        '"stalled_since": since',
        '"stalled_since": None',
        STORES_TESTS,
    ),
    broken(
        "a slot that nobody asked for has empty ids",
        "pixivflow/slots/recovery.py",
        " if value is not None}",
        "}",
        STORES_TESTS,
    ),
    broken(
        "the last signal is told as the one that ended the daemon",
        LIFECYCLE,
        "        if heard == 1:\n            stopped_by",
        "        if heard:\n            stopped_by",
        ("tests/daemon/test_signals.py",),
    ),
    broken(
        "a window opens without its counters",
        "actors/idle_lifecycle.py",
        '"idle.window_opened", **owed.counters())',
        '"idle.window_opened")',
        ("tests/actors/test_idle_lifecycle.py",),
    ),
)

ROWS = (*REASONS, *WORDS, *PASSES)
