"""What the settings in force mean for the work of a daemon."""

from tests.sabotages import Sabotage

WORK, ADHOC = "pixivflow/daemon/work.py", "pixivflow/daemon/adhoc.py"
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

ROWS = WRITTEN
