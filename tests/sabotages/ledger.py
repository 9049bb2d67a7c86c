"""The rules of the ledger's core: functions, batches, the queue, reading, opening, checking, closing."""

from tests.sabotages import Sabotage

ROOM = "pixivflow/ledger/"
TESTS = "tests/ledger/test_core_"


def row(name: str, file: str, find: str, replace: str, *tests: str) -> Sabotage:
    """`file` and `tests` by the part of their names that differs."""
    return Sabotage(
        name=name,
        file=f"{ROOM}{file}.py",
        find=find,
        replace=replace,
        tests=tuple(f"{TESTS}{each}.py" for each in tests),
    )


FUNCTIONS = (
    row("a function may commit", "db", "        sqlite3.SQLITE_TRANSACTION,  #", "        #", "functions"),
    row(
        "a function may release the batch's savepoint",
        "db",
        "        sqlite3.SQLITE_SAVEPOINT,  #",
        "        #",
        "functions",
    ),
    row("a function may change a pragma", "db", "        sqlite3.SQLITE_PRAGMA,\n", "", "functions"),
    row("a function may attach another file", "db", "        sqlite3.SQLITE_ATTACH,  #", "        #", "functions"),
    row(
        "the batch's own statements are a back door",
        "db",
        'self.mark = f" -- {secrets.token_hex(8)}"',
        'self.mark = ""',
        "functions",
    ),
    row(
        "a function goes on in autocommit",
        "db",
        'nothing may be slow."""\n        if self.guard.shut and',
        'nothing may be slow."""\n        if self is None and',
        "functions",
    ),
    row(
        "a function goes on in autocommit with an older cursor",
        "db",
        'as long as it lives."""\n        if self.guard.shut and',
        'as long as it lives."""\n        if self is None and',
        "functions",
    ),
    row(
        "a half-read cursor is let through",
        "db",
        "        if self._close_cursors():\n",
        "        if None:\n",
        "functions",
    ),
    row(
        "a cursor in a traceback pins the snapshot",
        "db",
        "        except BaseException:\n            self._close_cursors()\n            raise\n",
        "",
        "functions",
    ),
    row(
        "something lazy is returned",
        "db",
        'if hasattr(value, "__next__") or hasattr(',
        "if value is None and hasattr(",
        "functions",
    ),
)

BATCHES = (
    row("no savepoint", "batch", "    wheel.set()\n", "", "batch"),
    row("a failed function's rows stay", "batch", "        wheel.back()\n", "        pass\n", "batch"),
    row(
        "nobody asks whether SQLite ended the transaction",
        "batch",
        "    if not db.in_transaction:\n        return False\n    if job.error",
        "    if job.error and db.in_transaction",
        "batch",
        "writer",
    ),
    row(
        "an end that a function hid is taken for success",
        "batch",
        "self._failed_commit(db) if db.in_transaction else TransactionEnded(hidden_by(job))",
        "self._failed_commit(db) if db.in_transaction else None",
        "batch",
        "inline",
    ),
    row(
        "a failed commit is taken for a good one",
        "batch",
        "        if self._failed_commit(db) is not None:\n            return Broken(self.taken)\n",
        "        self._failed_commit(db)\n",
        "batch",
    ),
    row(
        "a failed commit leaves its transaction open",
        "batch",
        "            roll_back(db)\n            return tr",
        "            return tr",
        "batch",
    ),
    row("reading first and writing later", "batch", '"BEGIN IMMEDIATE"', '"BEGIN"', "batch"),
    row("a batch has no size", "batch", "len(self.taken) >= BATCH_FUNCTIONS or ", "", "batch"),
    row("a batch takes all the time in the world", "batch", " or perf_counter() >= end", "", "batch"),
    row(
        "an I/O error is one function's own",
        "batch",
        "    if code_of(error) in FATAL:",
        "    if code_of(error) is None:",
        "batch",
        "writer",
    ),
    row(
        "a full disk comes out as SQLite says it",
        "translate",
        "if code == sqlite3.SQLITE_FULL:",
        "if code == -2:",
        "batch",
    ),
    row("a busy file comes out as SQLite says it", "translate", "elif code in BUSY:", "elif code == -2:", "batch"),
)

QUEUE = (
    row(
        "a cancelled function runs all the same",
        "writer",
        "            self._queue.remove(job)\n",
        "            pass\n",
        "writer",
    ),
    row(
        "a caller cancelled before writes",
        "writer",
        "        await trio.lowlevel.checkpoint_if_cancelled()\n",
        "",
        "writer",
    ),
    row(
        "what broke together is not run again",
        "writer",
        "                self._again.extend(jobs)",
        '                self._tell_each(jobs, lambda: LedgerLost(""))',
        "writer",
    ),
    row("the woken miss the next batch", "writer", "                await self._let_queue(len(jobs))\n", "", "writer"),
    row("one look is enough for them", "writer", "for _ in range(2):", "for _ in range(1):", "writer"),
    row(
        "a busy file is an error at once",
        "writer",
        "now < self._refused_at + self._patience_s",
        "now < self._refused_at",
        "writer",
    ),
    row(
        "a busy file is waited for without end",
        "writer",
        " and now < self._refused_at + self._patience_s",
        "",
        "writer",
    ),
    row(
        "patience is never fresh again",
        "writer",
        "        self._refused_at = None\n        self._observe(False",
        "        self._observe(False",
        "writer",
    ),
    row(
        "an error and its function keep each other alive",
        "batch",
        "error, self.error = self.error, None",
        "error = self.error",
        "writer",
    ),
    row(
        "two callers share one error",
        "writer",
        "            word.task, word.error = job.task, error()\n",
        "            word.task, word.error = job.task, words[0].error or error()\n",
        "writer",
    ),
    row(
        "a hanging thread overwrites what its caller was told",
        "writer",
        "        words = [Job(job.fn, (), {}) for job in jobs]\n",
        "        words = jobs\n",
        "end",
    ),
    row(
        "after the writer's death others wait for ever",
        "writer",
        "            self._tell_each(self._waiting(), lambda: LedgerLost(reason))\n",
        "",
        "writer",
    ),
    row(
        "whoever was in the batch waits for ever",
        "writer",
        "            if self._flying is not None:\n",
        "            if None:\n",
        "writer",
    ),
    row(
        "a dead writer still takes functions",
        "writer",
        "            self.refusal = reason = f",
        "            reason = f",
        "writer",
    ),
    row("the block goes on without its writer", "threaded", "            self.block.cancel()\n", "", "writer"),
    row(
        "the block ends as if nothing had been lost",
        "ledger",
        "    if ledger.lost is not None:\n        raise LedgerLost(",
        "    if ledger is None:\n        raise LedgerLost(",
        "writer",
    ),
    row("a settling write is cancelled", "interface", ", shield=True)", ")", "writer"),
    row("a settling write waits without end", "interface", "self._timings.settle_ms / 1000, s", "10**6, s", "writer"),
    row("two full disks in a row pause", "storage", "FULL_IN_A_ROW: Final = 3", "FULL_IN_A_ROW: Final = 2", "storage"),
    row("a pause never ends", "storage", "0 <= now - self.full_at < pause_ms", "0 <= now - self.full_at", "storage"),
    row(
        "a clock set back prolongs the pause", "storage", "0 <= now - self.full_at <", "now - self.full_at <", "storage"
    ),
    row(
        "a write that changed nothing has found room",
        "interface",
        "        if wrote:\n",
        "        if not full:\n",
        "writer",
    ),
    row("room found is not noticed", "interface", "            self._storage = ROOM\n", "            pass\n", "writer"),
)

READING = (
    row("a read may write", "reader", '    db.steer("PRAGMA query_only = ON")\n', "", "reads"),
    row("a read is several snapshots", "reader", '        db.steer("BEGIN")\n', "", "reads"),
    row("a read keeps its snapshot", "reader", '            db.steer("ROLLBACK")\n', "            pass\n", "reads"),
    row(
        "a read meets SQLite's words",
        "reader",
        "        if (ours := translated(error)) is not error:\n            raise ours from error\n",
        "",
        "reads",
    ),
)

UNTRUSTED = (
    row(
        "an I/O error at COMMIT is put up with",
        "batch",
        "            raise_fatal(error)\n            roll_back(db)\n",
        "            roll_back(db)\n",
        "batch",
    ),
    row(
        "any error at BEGIN is a refusal",
        "batch",
        "        if code_of(error) in BUSY or code_of(error) == sqlite3.SQLITE_FULL:\n            return",
        "        if error:\n            return",
        "batch",
    ),
    row("a full disk at BEGIN ends the writer", "batch", "code_of(error) == sqlite3.SQLITE_FULL:", "None:", "batch"),
    row("a full disk is waited for as a busy one", "writer", "code_of(error) in BUSY and now <", "now <", "writer"),
    row(
        "a refused one sleeps long",
        "writer",
        "REFUSED_PAUSE_S: Final = 0.05",
        "REFUSED_PAUSE_S: Final = 5",
        "writer",
    ),
    row("a cut ledger checkpoints", "threaded", "self.lost is None and not self._cut:", "self.lost is None:", "end"),
    row("a copy is named before it is on the disk", "migrate", "    sync(partial)\n", "", "migrate"),
    row("the name of a copy is not on the disk", "migrate", "    sync(target.parent)\n", "", "migrate"),
    Sabotage(
        name="leases last as long as in production, whatever the timings say",
        file=f"{ROOM}stores.py",
        find="ttl_ms = self._ledger.lease_now(now), self._timings.slot_lease_ms\n        try:",
        replace="ttl_ms = self._ledger.lease_now(now), 180_000\n        try:",
        tests=("tests/ledger/test_stores.py",),
    ),
    Sabotage(
        name="a slot that was held for a moment is queued for ever",
        file="pixivflow/slots/stall.py",
        find="_if_older(slot.created_at, now - limits.queued_ms",
        replace="_if_older(slot.heartbeat_at or slot.created_at, now - limits.queued_ms",
        tests=("tests/ledger/test_sweeps_stall.py",),
    ),
)

FILES = (
    row(
        "a file system without a write-ahead log is put up with",
        "opening",
        'if db.steer("PRAGMA journal_mode") != [("wal",)]:',
        "if None:",
        "start",
    ),
    row(
        "the answer comes before the fsync",
        "connection",
        '"PRAGMA synchronous = FULL"',
        '"PRAGMA synchronous = NORMAL"',
        "durability",
        "start",
    ),
    row(
        "foreign keys are not looked at",
        "connection",
        '"PRAGMA foreign_keys = ON"',
        '"PRAGMA foreign_keys = OFF"',
        "start",
    ),
    row(
        "savepoints spill to files",
        "connection",
        '"PRAGMA temp_store = MEMORY"',
        '"PRAGMA temp_store = DEFAULT"',
        "start",
    ),
    row(
        "the log grows without bound",
        "connection",
        '        f"PRAGMA journal_size_limit = {JOURNAL_BYTES}",\n',
        "",
        "start",
    ),
    row(
        "a command checkpoints",
        "threaded",
        "CHECKPOINT_PAGES if self._terms.daemon else 0",
        "CHECKPOINT_PAGES",
        "start",
    ),
    row(
        "the log stays at the end", "threaded", '    db.steer("PRAGMA wal_checkpoint(TRUNCATE)")\n', "    pass\n", "end"
    ),
    row(
        "a command truncates the log",
        "threaded",
        "if self._terms.daemon and self.lost is None",
        "if self.lost is None",
        "end",
    ),
    row("a full disk fails the end", "threaded", ", suppress(sqlite3.Error):  # the log", ":  # the log", "disk"),
    row(
        "the lock is not held while it is open",
        "lockfile",
        "await self._until(fcntl.LOCK_SH, patience_ms)",
        "await self._until(fcntl.LOCK_UN, patience_ms)",
        "lock",
    ),
    row(
        "an exclusive holder is not heeded",
        "threaded",
        "        if not alone:\n            await lock.share(self._terms.busy_timeout_ms)\n",
        "",
        "lock",
    ),
    row(
        "being alone does not end",
        "lockfile",
        "            fcntl.flock(self._fd, fcntl.LOCK_UN)\n",
        "            pass\n",
        "lock",
    ),
    row(
        "the lock is waited for without end",
        "lockfile",
        "            if trio.current_time() >= end:\n",
        "            if None:\n",
        "lock",
    ),
    row(
        "another program's file is taken over",
        "check",
        "if version == 0 or application != APPLICATION_ID:",
        "if None:",
        "start",
    ),
    row("a newer ledger is opened", "check", "    if version > newest:", "    if version > 100:", "start"),
    row("a refused file gets company", "check", '"" if in_use or', '"" if True or', "start"),
    row(
        "an immutable look misses the log",
        "check",
        '"" if in_use or has_log(path) else "&immutable=1"',
        '"&immutable=1"',
        "start",
    ),
    row("a ledger that is only busy is set aside", "opening", "if not unusable or not (", "if not (", "start"),
    row(
        "a lost ledger is taken for a first start",
        "opening",
        "(self._lock.has_seen_a_ledger or has_log(self.path))",
        "not self.path",
        "start",
    ),
    row("a log without its file tells nothing", "opening", " or has_log(self.path))", ")", "start"),
    row("nobody writes down that there is one", "opening", "            self._lock.note_a_ledger()\n", "", "start"),
    row(
        "the word in the lock file must be written",
        "lockfile",
        "contextlib.suppress(OSError)",
        "contextlib.suppress(EOFError)",
        "start",
    ),
    row(
        "a command sets a ledger aside",
        "opening",
        "not (self._daemon and self._alone) or self.set_aside_for",
        "not self._alone or self.set_aside_for",
        "start",
    ),
    row(
        "a ledger in use is set aside",
        "opening",
        "not (self._daemon and self._alone) or self.set_aside_for",
        "not self._daemon or self.set_aside_for",
        "start",
    ),
    row(
        "the log is left for the next ledger",
        "check",
        'for suffix in ("-wal", "-shm", "")',
        'for suffix in ("",)',
        "start",
    ),
    row("an unclean end is not checked", "opening", "if self.left_open and", "if None and", "start"),
    row(
        "a large file is checked before it serves",
        "opening",
        " and self.path.stat().st_size < CHECKED_FIRST_BYTES",
        "",
        "start",
    ),
    row(
        "the marks of the living are judged",
        "opening",
        "if not (self._daemon and self._alone):\n            return",
        "if not self._daemon:\n            return",
        "start",
    ),
    row(
        "a command judges marks",
        "opening",
        "if not (self._daemon and self._alone):\n            return",
        "if not self._alone:\n            return",
        "start",
    ),
    row("nobody marks the ledger as open", "threaded", "        await self._mark_open()\n", "", "start", "durability"),
    row(
        "an orderly end leaves its mark",
        "threaded",
        "partial(mark_closed, owner=self._owner)",
        "None",
        "start",
        "durability",
    ),
    row(
        "a damaged ledger is not checked again",
        "threaded",
        "None if self.damaged is not None else partial",
        "partial",
        "start",
    ),
    row(
        "a damaged ledger takes new work",
        "interface",
        "        if self.damaged is not None:\n",
        "        if None:\n",
        "start",
    ),
    row(
        "a larger file is never checked",
        "threaded",
        "        if self._terms.daemon and not opening.checked:\n",
        "        if None:\n",
        "start",
    ),
    row(
        "an unsound SQLite is not warned of",
        "threaded",
        "if sqlite3.sqlite_version_info < SOUND_SQLITE:",
        "if None:",
        "start",
    ),
    row(
        "a full disk keeps the daemon down",
        "threaded",
        "with suppress(StorageFull):",
        "with suppress(KeyError):",
        "start",
    ),
)

ENDS = (
    row(
        "what is queued at the end is lost",
        "writer",
        "        while not (self._queue or self._again):\n",
        "        while self._closing or not (self._queue or self._again):\n",
        "end",
    ),
    row(
        "a closed ledger takes functions",
        "writer",
        '        self.refusal = self.refusal or "the ledger is closed"\n',
        "",
        "end",
    ),
    row("a hanging statement is not cut", "writer", "        self._carrier.interrupt_now()\n", "", "end"),
    row(
        "what was cut runs again",
        "writer",
        "            case Broken(jobs=jobs) if not self._cut:",
        "            case Broken(jobs=jobs) if True:",
        "end",
    ),
    row(
        "the end waits for the check of the file",
        "threaded",
        "            self._end.push_async_callback(Attendant(self._check).end)",
        "            self._end.push_async_callback(Attendant(self._check).wait_over, 10**8)",
        "start",
    ),
    row("a hanging read is not cut", "connection", "        self.interrupt_now()\n", "", "end"),
    row("a hanging thread's lock is given away", "threaded", "            self._hung = True\n", "", "end"),
    row(
        "a hanging thread keeps the process",
        "connection",
        "self._thread.daemon, self._thread.name = True, name",
        "self._thread.name = name",
        "driver",
    ),
    row(
        "a virtual clock leaps over a thread at work",
        "hop",
        "        self._traffic.ends()\n        if self._waiting:\n",
        "        if self._waiting:\n            self._traffic.ends()\n",
        "driver",
    ),
)

STEPS = (
    row("a step is half taken", "migrate", '    db.steer("BEGIN IMMEDIATE")\n', "", "migrate"),
    row(
        "two processes take one step",
        "migrate",
        "        if version_of(db) < step.number:\n",
        "        if True:\n",
        "migrate",
    ),
    row("no way back is kept", "migrate", "    if pending and version > 0:\n", "    if None:\n", "migrate"),
    row(
        "a file does not say whose it is",
        "migrate",
        '            db.steer(f"PRAGMA application_id = {APPLICATION_ID}")\n',
        "",
        "migrate",
    ),
    row("a ledger in use is changed", "opening", "if 0 < version < newest and not self._alone:", "if None:", "migrate"),
    row(
        "a script is cut at every semicolon",
        "migrate",
        "if sqlite3.complete_statement(sql[start : semicolon.end()]):",
        "if semicolon:",
        "migrate",
    ),
)

CLOCK = (
    row(
        "a dead owner blocks for a day",
        "leaseclock",
        "expected if wall < expected - STEP_BACK_MS else wall",
        "wall",
        "leaseclock",
    ),
    row(
        "a time server's step is taken for a fault",
        "leaseclock",
        "STEP_BACK_MS: Final = 60_000",
        "STEP_BACK_MS: Final = 0",
        "leaseclock",
    ),
    row(
        "the lease clock stands still after a step",
        "leaseclock",
        "    expected = newest + elapsed_ms\n",
        "    expected = newest\n",
        "leaseclock",
    ),
    Sabotage(
        name="a claim of rows is not remembered",
        file=f"{ROOM}outbox.py",
        find="    if claimed:\n        leaseclock.remember(db, now)\n",
        replace="",
        tests=("tests/ledger/test_stores.py",),
    ),
    Sabotage(
        name="a renewal of rows is not remembered",
        file=f"{ROOM}outbox.py",
        find="    if renewed:\n        leaseclock.remember(db, now)\n",
        replace="",
        tests=("tests/ledger/test_stores.py",),
    ),
    Sabotage(
        name="the inline ledger begins its lease clock afresh",
        file=f"{ROOM}inline.py",
        find="        self._start_lease_clock(newest_seen(db))\n",
        replace="        self._start_lease_clock(min(0, newest_seen(db)))\n",
        tests=("tests/ledger/test_stores.py",),
    ),
    row("an older instant replaces the newest", "leaseclock", " AND newest_at < :now", "", "leaseclock"),
    row(
        "the next process starts from its own clock",
        "threaded",
        "        self._start_lease_clock(opening.newest_at)\n",
        "",
        "leaseclock",
    ),
)

HELD = (
    Sabotage(
        name="a slot that is held back ends as queued too long",
        file=f"{ROOM}stores.py",
        find="        if self._ledger.obstacle(now):\n            return []  #",
        replace="        if None:\n            return []  #",
        tests=("tests/ledger/test_stores.py",),
    ),
    Sabotage(
        name="a hold without words holds nothing back that anybody is told of",
        file=f"{ROOM}hold.py",
        find='.splitlines()), "it does not say why")',
        replace=".splitlines()), None)",
        tests=("tests/ledger/test_hold.py",),
    ),
    row(
        "an empty ledger publishes everything again",
        "interface",
        "if self._hold is not None and self._hold.stands:",
        "if None:",
        "start",
    ),
    row(
        "a new ledger is begun before its hold",
        "opening",
        "        Hold(self.path).place(self.set_aside_for, self._now)  #",
        "        pass  #",
        "start",
    ),
)

TOLD = (
    row(
        "the log tells what was rolled back",
        "batch",
        "for job in jobs if job.error is None for told",
        "for job in jobs for told",
        "inline",
    ),
    row(
        "the log repeats what an earlier function told",
        "db",
        "        self._told.clear()\n",
        "",
        "inline",
    ),
    row(
        "the audit is not told in the log",
        "events",
        "    db.execute(APPEND, msgspec.structs.asdict(event))\n    db.tell(event)\n",
        "    db.execute(APPEND, msgspec.structs.asdict(event))\n",
        "inline",
    ),
)

INLINE = (
    row(
        "inline, a caller cannot be cancelled before",
        "inline",
        "        await trio.lowlevel.checkpoint()\n        self._check()\n        job =",
        "        self._check()\n        job =",
        "inline",
    ),
    row(
        "inline, a caller cannot be cancelled after",
        "inline",
        "        await trio.lowlevel.checkpoint()\n        value: T = job",
        "        value: T = job",
        "inline",
    ),
    row("inline, a read may write", "inline", '        self._db.steer("PRAGMA query_only = ON")\n', "", "inline"),
    row("inline, a lost ledger is used on", "inline", "            self.lost = error\n", "", "inline"),
)

ROWS = (*FUNCTIONS, *BATCHES, *QUEUE, *READING, *UNTRUSTED, *FILES, *ENDS, *STEPS, *CLOCK, *HELD, *TOLD, *INLINE)
