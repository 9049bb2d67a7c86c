"""One event in, one redacted line out."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import trio

from pixivflow.config.mask import MASK, Secret
from pixivflow.errors import ConfigError
from pixivflow.observe.levels import LEVELS, RANKS, Level
from pixivflow.observe.libraries import hear_libraries
from pixivflow.observe.log import Format, Log, format_of, inherited

PLANTED = "Planted-s3cret_0123"
AT = 1_768_446_000.25


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    """The error as it is caught: with where it came from."""
    with pytest.raises(type(error)) as caught:
        raise error from cause
    return caught.value


class Heard:
    """A log whose lines can be read."""

    def __init__(self, form: Format = "json", level: Level = "info") -> None:
        self.stream = io.StringIO()
        self.log = Log(self.stream, level=level, form=form, clock=lambda: AT)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


def test_a_line_of_json_starts_with_what_every_line_says() -> None:
    heard = Heard()
    heard.log.note("run.finished", actor="slot_runner", slot="nightly@x", title="絵\n\x9b31m\u2028", took_ms=5)
    assert heard.text.count("\n") == 1
    assert "絵" in heard.text
    assert heard.text.strip().isprintable()
    assert list(heard.lines[0].items()) == [
        ("timestamp", "2026-01-15T03:00:00.250Z"),
        ("level", "info"),
        ("message", "run.finished"),
        ("service", "pixivflow"),
        ("slot", "nightly@x"),
        ("title", "絵\n\x9b31m\u2028"),
        ("took_ms", 5),
        ("component", "slot_runner"),
    ]


def test_a_line_of_text_is_one_line_whatever_it_holds() -> None:
    heard = Heard("text")
    heard.log.note("run.failed", reason="two\nlines \x1b[2J\x9b")
    assert heard.text == ('[2026-01-15T03:00:00.250Z] [ERROR] run.failed {"reason": "two\\nlines \\u001b[2J\\u009b"}\n')
    heard.log.note("idle.leaving")
    assert heard.text.splitlines()[1] == "[2026-01-15T03:00:00.250Z] [INFO] idle.leaving"


def test_the_name_of_an_event_tells_how_loud_it_is_and_the_level_what_is_said() -> None:
    heard = Heard(level="warn")
    for event in ("run.finished", "run.late", "run.failed", "actor.stopping", "target.crashed"):
        heard.log.note(event)
    assert [(line["message"], line["level"]) for line in heard.lines] == [
        ("run.late", "warn"),
        ("run.failed", "error"),
        ("target.crashed", "error"),
    ]
    heard.log.set_level("debug")
    heard.log.note("actor.stopping")
    assert heard.lines[-1]["level"] == "debug"
    assert set(LEVELS.values()) <= set(RANKS)


@pytest.mark.parametrize(
    ("environ", "form"),
    [({}, "text"), ({"PIXIV_LOG_FORMAT": " JSON "}, "json"), ({"PIXIV_LOG_FORMAT": "yaml"}, "text")],
)
def test_the_environment_chooses_the_form(environ: dict[str, str], form: Format) -> None:
    assert format_of(environ) == form


async def test_a_run_s_fields_reach_every_task_of_it_and_no_other() -> None:
    heard = Heard()

    async def work() -> None:
        await trio.lowlevel.checkpoint()
        heard.log.note("run.finished")

    async with trio.open_nursery() as nursery:
        with inherited(slot_id="nightly@x", stage="select"):
            nursery.start_soon(work)
            with inherited(stage="download"):
                heard.log.note("run.late", slot_id="said here")
        heard.log.note("idle.armed")
    fields = {line["message"]: (line.get("slot_id"), line.get("stage")) for line in heard.lines}
    assert fields == {
        "run.finished": ("nightly@x", "select"),
        "run.late": ("said here", "download"),
        "idle.armed": (None, None),
    }


@pytest.mark.case("operate", 70)
def test_what_an_error_says_and_where_a_proxy_is_are_told_without_credentials() -> None:
    heard = Heard()
    proxy = "socks5://me:pw@10.0.0.1:1080"
    heard.log.note("run.failed", error=ConfigError("x", None, "Bearer abc token=xyz"), proxy=proxy)
    assert heard.lines[0]["error"]["message"].endswith("Bearer *** token=***")
    assert heard.lines[0]["proxy"] == "socks5://redacted@10.0.0.1:1080"


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_secret_passes_by_any_way_that_a_line_has(form: Format) -> None:
    heard = Heard(form, "debug")
    heard.log.redactor.learn(PLANTED)
    with inherited(context=f"x{PLANTED}x", token=PLANTED):
        error = raised(ConfigError("pixiv.refreshToken", PLANTED, f"at https://u:{PLANTED}@h"), OSError(PLANTED))
        heard.log.note("config.rejected", error=error, headers={"Cookie": PLANTED}, settings=Secret(PLANTED))
        heard.log.note("run.failed", deep=[{"a": (PLANTED, {PLANTED: PLANTED})}], raw=PLANTED.encode())
        heard.log.say("error", "run.failed", exception=f"Traceback: {PLANTED}", level=PLANTED, event=PLANTED)
    assert heard.text.count("\n") == 3
    assert PLANTED not in heard.text
    assert MASK in heard.text


def test_a_field_cannot_pretend_to_be_the_line() -> None:
    heard = Heard()
    heard.log.note("run.failed", level="info", timestamp="never", message="all is well", service="other", event="x")
    line = heard.lines[0]
    assert (line["level"], line["message"], line["service"]) == ("error", "run.failed", "pixivflow")
    assert (line["level_"], line["message_"], line["event_"]) == ("info", "all is well", "x")


def test_where_it_happened_is_told_only_of_an_error_that_nobody_expected() -> None:
    heard = Heard()
    for error in (ValueError("a bug"), ConfigError("key", 1, "mend it")):
        heard.log.note("run.failed", error=raised(error))
    assert "test_log.py" in heard.lines[0]["exception"]
    assert "exception" not in heard.lines[1]
    heard.log.set_level("debug")
    heard.log.note("run.failed", error=ConfigError("key", 1, "mend it"))
    assert "ConfigError" in heard.lines[2]["exception"]


class Broken(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_stream_that_takes_nothing_is_told_of_once_and_stops_no_work(capfd: pytest.CaptureFixture[str]) -> None:
    log = Log(Broken())
    closed = io.StringIO()
    closed.close()
    for _ in range(3):
        log.note("run.finished")
    Log(closed).note("run.finished")
    assert capfd.readouterr().err.splitlines() == [
        "pixivflow: lines of the log are lost: BrokenPipeError",
        "pixivflow: lines of the log are lost: ValueError",
    ]


def test_a_stream_that_cannot_spell_a_character_gets_it_spelled_out() -> None:
    raw = io.BytesIO()
    Log(io.TextIOWrapper(raw, encoding="ascii", write_through=True), clock=lambda: AT).note("x", title="絵\ud800")
    assert b"\\u7d75\\ud800" in raw.getvalue()


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield root
    root.handlers[:], root.level = before


def test_libraries_are_heard_when_it_matters_and_without_what_they_quote(root: logging.Logger) -> None:
    heard = Heard()
    hear_libraries(heard.log)
    library = logging.getLogger("httpx")
    library.info("HTTP Request: GET https://h/?token=%s", PLANTED)
    library.warning("retrying https://h/?token=%s", PLANTED)
    library.warning("%d", "no number")
    library.error("it failed", exc_info=raised(OSError(f"token={PLANTED}")))
    assert PLANTED not in heard.text
    assert [(line["level"], line["library"], line["text"]) for line in heard.lines] == [
        ("warn", "httpx", "retrying https://h/?…"),
        ("warn", "httpx", "%d"),
        ("error", "httpx", "it failed"),
    ]
    assert heard.lines[2]["error"]["name"] == "OSError"
