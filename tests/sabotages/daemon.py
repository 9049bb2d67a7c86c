"""What the settings in force mean for the work of a daemon."""

from tests.sabotages import Sabotage

WORK, ADHOC = "pixivflow/daemon/work.py", "pixivflow/daemon/adhoc.py"
OUTSIDE = "pixivflow/daemon/outside.py"
WORK_TESTS = ("tests/daemon/test_work.py",)

WRITTEN = (
    Sabotage(
        name="a run tries a work three times whatever is written",
        file=WORK,
        find="            max_tries=settings.download.max_retries,\n",
        replace="",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a run waits two seconds before it tries again whatever is written",
        file=WORK,
        find="            retry_ms=settings.download.retry_delay_ms,\n",
        replace="",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a download by hand is tried three times whatever is written",
        file=ADHOC,
        find="            max_tries=settings.download.max_retries,\n",
        replace="",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="pictures are named as if nothing were written about it",
        file=WORK,
        find="            asset_namespace=settings.download.asset_namespace,\n",
        replace="",
        tests=WORK_TESTS,
    ),
)

IN_FORCE_TESTS = ("tests/daemon/test_in_force.py",)

IN_FORCE = (
    Sabotage(
        name="the pauses between attempts at a delivery are those of the start",
        file="pixivflow/daemon/program.py",
        find="            retries=lambda: retries(self.settings()),\n",
        replace="            retries=lambda: retries(loaded.settings),\n",
        tests=IN_FORCE_TESTS,
    ),
    Sabotage(
        name="the pump keeps the pauses that it began with",
        file="pixivflow/ledger/stores.py",
        find="        self._ended, self._retries = ended, retries\n",
        replace="        policy = retries()\n        self._ended, self._retries = ended, lambda: policy\n",
        tests=IN_FORCE_TESTS,
    ),
    Sabotage(
        name="files are fetched as the first run was told",
        file=OUTSIDE,
        find="        return self.new_fetcher(download)",
        replace="        return self.new_fetcher(Download())",
        tests=IN_FORCE_TESTS,
    ),
    Sabotage(
        name="lists are read with the pauses of the first run",
        file=OUTSIDE,
        find="        return self.account.paced(download.request_delay_ms)",
        replace="        return self.account",
        tests=IN_FORCE_TESTS,
    ),
    Sabotage(
        name="a key that nothing reads is silently in force",
        file="pixivflow/daemon/gaps.py",
        find='    Row("download.ugoiraFormat", written, "animations are not fetched by this version"),\n',
        replace="",
        tests=IN_FORCE_TESTS,
    ),
)

CARRIED = (
    Sabotage(
        name="lines from inside a run name no run",
        file=WORK,
        find="            about=inherited,\n",
        replace="",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a line does not say which target it is about",
        file="pixivflow/slots/coordinator.py",
        find="        with parts.about(target_id=cell.target_id, stage=SELECTION):",
        replace="        with parts.about(stage=SELECTION):",
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="a line does not say which work it is about",
        file="pixivflow/slots/attempt.py",
        find='    with turn.parts.about(pixiv_id=work.work_id, stage="download"):',
        replace='    with turn.parts.about(stage="download"):',
        tests=WORK_TESTS,
    ),
    Sabotage(
        name="the loop waits for what carries the fields of a run",
        file=WORK,
        find="    await trio.to_thread.run_sync(load, limiter=trio.CapacityLimiter(1))\n",
        replace="    load()\n",
        tests=("tests/daemon/test_loaded.py",),
    ),
    Sabotage(
        name="a line waits for a thread that loads structlog",
        file="pixivflow/observe/structured.py",
        find="        if made is None and not _is_loaded:",
        replace='        if made is None and "structlog" not in sys.modules:',
        tests=("tests/unit/observe/test_imports.py",),
    ),
)

ROWS = (*WRITTEN, *IN_FORCE, *CARRIED)
