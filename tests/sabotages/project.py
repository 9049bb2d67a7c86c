"""The machinery of the tests themselves: crash points, durations of tests, joined cases."""

from tests.sabotages import Sabotage

FAILPOINTS = "pixivflow/failpoints.py"
FAILPOINT_TESTS = ("tests/unit/test_failpoints.py",)
PROJECT_TESTS = ("tests/test_project.py",)
HOOK = "tests/case_hook.py"
HOOK_TESTS = ("tests/unit/test_case_hook.py",)

ROWS = (
    Sabotage(
        name="a misspelt point is waited for in vain",
        file=FAILPOINTS,
        find="    if name not in POINTS:\n        raise ConfigError",
        replace="    if not name:\n        raise ConfigError",
        tests=FAILPOINT_TESTS,
    ),
    Sabotage(
        name="a point that nobody listed is passed in silence",
        file=FAILPOINTS,
        find="    if name not in POINTS:\n        raise LookupError",
        replace="    if not name:\n        raise LookupError",
        tests=FAILPOINT_TESTS,
    ),
    Sabotage(
        name="the process dies one hit early",
        file=FAILPOINTS,
        find="if self._left == 0:",
        replace="if self._left <= 1:",
        tests=FAILPOINT_TESTS,
    ),
    Sabotage(
        name="the process ends politely",
        file=FAILPOINTS,
        find="os.kill(os.getpid(), signal.SIGKILL)",
        replace="raise SystemExit(1)",
        tests=FAILPOINT_TESTS,
    ),
    Sabotage(
        name="hits of two threads are counted as one",
        file=FAILPOINTS,
        find="        with self._lock:\n",
        replace="        if self._lock:\n",
        tests=FAILPOINT_TESTS,
    ),
    Sabotage(
        name="production looks every point up",
        file=FAILPOINTS,
        find="def _nothing(_name: str) -> None:\n    pass",
        replace="def _nothing(_name: str) -> None:\n    os.environ.get(SWITCH)",
        tests=FAILPOINT_TESTS,
    ),
    Sabotage(
        name="production's durations can be replaced",
        file=FAILPOINTS,
        find="if not failpoints.enabled:",
        replace="if failpoints is None:",
        tests=FAILPOINT_TESTS,
    ),
    Sabotage(
        name="durations of tests keep no ratio",
        file=FAILPOINTS,
        find="return checked(msgspec.json.decode(Path(path).read_bytes(), type=Timings))",
        replace="return msgspec.json.decode(Path(path).read_bytes(), type=Timings)",
        tests=FAILPOINT_TESTS,
    ),
    Sabotage(
        name="production beats slower",
        file="pixivflow/times.py",
        find="heartbeat_ms: int = 30_000",
        replace="heartbeat_ms: int = 45_000",
        tests=("tests/unit/test_times.py",),
    ),
    Sabotage(
        name="a text without a zone is read in the host's zone",
        file="pixivflow/times.py",
        find="instant = instant.replace(tzinfo=UTC)",
        replace="instant = instant.astimezone()",
        tests=("tests/unit/test_times.py",),
    ),
    Sabotage(
        name="the wheel forgets the ledger's schema",
        file="pyproject.toml",
        find='"pixivflow.ledger.schema" = ["*.sql"]',
        replace='"pixivflow.ledger.schema" = []',
        tests=PROJECT_TESTS,
    ),
    Sabotage(
        name="a module without a layer may import anything",
        file="pyproject.toml",
        find="exhaustive = true\nexhaustive_ignores",
        replace="exhaustive = false\nexhaustive_ignores",
        tests=PROJECT_TESTS,
    ),
    Sabotage(
        name="help waits for trio",
        file="pixivflow/cli/main.py",
        find="import click\n",
        replace="import click\nimport trio  # noqa: F401\n",
        tests=("tests/unit/test_cli.py",),
    ),
    Sabotage(
        name="the README copies a living file with cp",
        file="README.md",
        find="sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True).backup(sqlite3.connect(sys.argv[2]))",
        replace="__import__('shutil').copy(sys.argv[1], sys.argv[2])",
        tests=PROJECT_TESTS,
    ),
    Sabotage(
        name="a proof may vanish unseen",
        file=HOOK,
        find="return unlisted + unproved if whole else unlisted",
        replace="return unlisted",
        tests=HOOK_TESTS,
    ),
    Sabotage(
        name="a run of a part is asked for the whole",
        file=HOOK,
        find="return unlisted + unproved if whole else unlisted",
        replace="return unlisted + unproved",
        tests=HOOK_TESTS,
    ),
    Sabotage(
        name="a claim of an unlisted case counts",
        file=HOOK,
        find="        if claim not in listed\n",
        replace="        if claim is None\n",
        tests=HOOK_TESTS,
    ),
    Sabotage(
        name="a name is defined that nobody uses",
        file="pixivflow/delivery/model.py",
        find="MAX_ATTEMPTS: Final = 12\n",
        replace="MAX_ATTEMPTS: Final = 12\nFEW_ATTEMPTS: Final = 8\n",
        tests=("tests/unit/test_used.py",),
    ),
)
