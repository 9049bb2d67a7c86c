"""What a log costs at the start: told by what is loaded, since a clock tells something else each time."""

import subprocess
import sys

import pytest

ROOT = "import sys; from pixivflow.observe.log import Log, inherited"
SAID = ROOT + "; log = Log(sys.stderr); log.note('idle.armed')"
CARRIED = SAID + "; inherited(slot='s').__enter__(); log.note('idle.armed')"


def loaded_after(program: str) -> set[str]:
    """The modules that a fresh interpreter has loaded at the end of `program`."""
    told = subprocess.run(
        [sys.executable, "-c", f"{program}; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(told.stdout.split())


def test_structlog_is_loaded_when_fields_are_carried_and_not_for_a_line_without() -> None:
    assert not {"structlog", "rich", "asyncio", "logging"} & loaded_after(SAID)
    assert "structlog" in loaded_after(CARRIED)


def test_a_line_does_not_wait_for_a_thread_that_is_loading_structlog() -> None:
    half = "; import types; sys.modules['structlog'] = types.ModuleType('structlog')"
    program = f"{ROOT}{half}; log = Log(sys.stderr); log.note('idle.armed')"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "idle.armed" in told.stderr


def test_the_coloured_renderers_stay_outside() -> None:
    assert not {name for name in loaded_after(CARRIED) if name.split(".")[0] in ("rich", "pygments")}


@pytest.mark.parametrize("before", ["", "import rich; "])
def test_rich_can_be_loaded_all_the_same(before: str) -> None:
    assert "rich.table" in loaded_after(before + CARRIED + "; import rich.table")


def test_a_configuration_is_loaded_without_what_only_a_daemon_needs() -> None:
    loaded = loaded_after("import sys; import pixivflow.config.load")
    assert not {"trio", "watchfiles", "structlog", "cronsim", "rich", "asyncio", "httpx", "sqlite3"} & loaded


def test_the_watcher_loads_the_library_that_watches_once_it_watches() -> None:
    assert not {"watchfiles", "anyio", "asyncio"} & loaded_after("import sys; import pixivflow.config.watch")
