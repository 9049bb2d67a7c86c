"""What a person reads of a failed target is what was the matter: every fault of the sandbox, driven through the edges
that meet it, the walk and the end of the slot, to the reason in the cell's row."""

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

import pixivflow
from actors.kit.testing import Probe
from pixivflow.config.model import Download, Network, Storage
from pixivflow.download.fetch import PageFetcher
from pixivflow.download.shelf import Shelf
from pixivflow.sandbox.hosts import local_bases
from pixivflow.slots.model import Cell, CellStatus
from tests.edges.pixiv.stage import PORT, REVOKED, Stage
from tests.fixtures.ledgers import StoppedClock
from tests.fixtures.staging import FakeStaging
from tests.fixtures.walks import Scene, a_target

ROOT = Path(pixivflow.__file__).parent
Make = Callable[..., Scene]
Fault = Callable[[Stage], object]


def a_fault(name: str, part: str = "/v1/search/illust", **args: Any) -> Fault:
    """A fault of everything below `part`, or of one of the service's kinds, for ever."""
    match = {"route": part} if part.startswith("/") else {"kind": part}
    return partial(_posted, name, match, args)


def _posted(name: str, match: dict[str, str], args: dict[str, Any], stage: Stage) -> None:
    stage.played.fault(name, match=match, **args)


def the_scene(make: Make, stage: Stage, **fields: Any) -> Scene:
    """A slot with one cell of one work, found by a search of the sandbox."""
    return make(source=stage.source, targets=(a_target(tag="dup", r18=True),), tries=1, **fields)


async def ended(run: Scene) -> Cell:
    """The cell after a whole run, which has ended it as failed."""
    await run.live()
    assert run.cell().status is CellStatus.FAILED
    return run.cell()


LIMITED, DOWN, REMOTE = "rate_limited", "network_error", "remote_http_error"

AT_THE_API = [
    pytest.param(a_fault("rate_429"), LIMITED, id="429 for ever"),
    pytest.param(a_fault("rate_429", "/v1/illust/detail"), LIMITED, id="429 for the work's details"),
    pytest.param(a_fault("rate_403"), LIMITED, id="403 that speaks of a rate limit"),
    pytest.param(a_fault("status", code=503), DOWN, id="503 that stays"),
    pytest.param(a_fault("status", code=500), REMOTE, id="500 that stays"),
    pytest.param(a_fault("stall"), DOWN, id="no answer"),
    pytest.param(a_fault("stall", after_bytes=100), DOWN, id="half an answer, and silence"),
    pytest.param(a_fault("reset"), DOWN, id="a reset line"),
    pytest.param(a_fault("reset", "/v1/illust/detail"), DOWN, id="a reset line at the details"),
    pytest.param(a_fault("truncate", after_bytes=100), DOWN, id="a cut answer"),
    pytest.param(a_fault("html"), REMOTE, id="a page of HTML"),
    pytest.param(a_fault("html", "/v1/illust/detail"), REMOTE, id="a page of HTML at the details"),
    pytest.param(a_fault("bad_json"), REMOTE, id="broken JSON"),
    pytest.param(a_fault("redirect", to="https://evil.example/"), REMOTE, id="a redirect"),
    pytest.param(a_fault("error_200", message="?"), REMOTE, id="an error with 200"),
    pytest.param(a_fault("status", code=400), REMOTE, id="400"),
    pytest.param(a_fault("foreign_cursor"), REMOTE, id="a list that goes on at another host"),
    pytest.param(a_fault("drop_fields", "/v1/illust/detail", fields=["id"]), "metadata_failed", id="a nameless work"),
    pytest.param(a_fault("oauth_400"), "auth_failed", id="a token that is refused again"),
    pytest.param(a_fault("status", "oauth", code=500), REMOTE, id="a login service that fails"),
    pytest.param(a_fault("status", "oauth", code=429), LIMITED, id="a login service that limits us"),
    pytest.param(a_fault("html", "oauth"), REMOTE, id="a login service that answers with a page"),
    pytest.param(a_fault("stall", "oauth"), DOWN, id="a login service that does not answer"),
]


@pytest.mark.parametrize(("fault", "code"), AT_THE_API)
async def test_a_fault_of_the_api_is_the_reason_of_the_cell(
    fault: Fault, code: str, scene: Make, autojump_clock: MockClock
) -> None:
    stage = Stage()
    fault(stage)
    assert (await ended(the_scene(scene, stage))).reason_code == code


async def test_a_refused_credential_is_the_reason_of_the_cell(scene: Make, autojump_clock: MockClock) -> None:
    assert (await ended(the_scene(scene, Stage(token=REVOKED)))).reason_code == "auth_failed"


async def test_a_circuit_that_an_earlier_slot_left_open_is_a_rate_limit(scene: Make, autojump_clock: MockClock) -> None:
    stage = Stage()
    a_fault("rate_429")(stage)
    run = the_scene(scene, stage)
    await run.live()
    sent = len(stage.played.sent)
    run.next_slot()
    assert (await ended(run)).reason_code == LIMITED
    assert len(stage.played.sent) == sent


FAILED = "download_failed"

AT_THE_IMAGE_HOST = [
    pytest.param(a_fault("stall", "img", after_bytes=100), "download_timeout", id="half a picture, and silence"),
    pytest.param(a_fault("stall", "img"), "download_timeout", id="no answer"),
    pytest.param(a_fault("reset", "img"), FAILED, id="a reset line"),
    pytest.param(a_fault("reset", "img", after_bytes=100), FAILED, id="a reset line in the middle"),
    pytest.param(a_fault("truncate", "img", after_bytes=100), FAILED, id="a cut picture"),
    pytest.param(
        a_fault("truncate", "img", after_bytes=100, honest_length=True), FAILED, id="a picture without an end"
    ),
    pytest.param(a_fault("html", "img"), FAILED, id="a page of HTML"),
    pytest.param(a_fault("html", "img", as_image=True), FAILED, id="a page of HTML that says it is a picture"),
    pytest.param(a_fault("empty", "img"), FAILED, id="nothing"),
    pytest.param(a_fault("bad_magic", "img"), FAILED, id="noise"),
    pytest.param(a_fault("status", "img", code=500), FAILED, id="500"),
    pytest.param(a_fault("status", "img", code=503), DOWN, id="503"),
    pytest.param(a_fault("rate_429", "img"), LIMITED, id="429"),
]


def a_fetcher(stage: Stage, folder: Path) -> PageFetcher:
    """A fetcher that gives up soon, before the stage's sandbox."""
    return PageFetcher(
        Storage(illustration_directory=folder),
        Download(request_delay_ms=0, timeout_ms=200),
        Network(retries=0, retry_delay_ms=1),
        stage.played,
        user_agent="PixivAndroidApp/5.0.234 (Android 11; Pixel 6)",
        image=local_bases(PORT).img,
        clock=StoppedClock(),
        note=Probe().note,
        shelf=Shelf(FakeStaging(), StoppedClock()),
    )


@pytest.mark.parametrize(("fault", "code"), AT_THE_IMAGE_HOST)
async def test_a_fault_of_the_image_host_is_the_reason_of_the_cell(
    fault: Fault, code: str, scene: Make, tmp_path: Path
) -> None:
    stage = Stage()
    fault(stage)
    run = the_scene(scene, stage, fetcher=a_fetcher(stage, tmp_path / "illustrations"), scan_limit=2)
    assert (await ended(run)).reason_code == code


async def test_a_folder_that_is_none_is_a_failed_download(scene: Make, tmp_path: Path) -> None:
    (tmp_path / "illustrations").touch()
    stage = Stage()
    run = the_scene(scene, stage, fetcher=a_fetcher(stage, tmp_path / "illustrations"), scan_limit=2)
    assert (await ended(run)).reason_code == FAILED


NAMES = [
    "postcard",
    "429",
    "500",
    "HTTP 401 unauthorized",
    "download timeout",
    "telegram",
    "delivery",
    "missing config",
    "rate limit",
    "登录",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("fault", "code"), [(a_fault("reset"), DOWN), (a_fault("html"), REMOTE), (a_fault("rate_429"), LIMITED)]
)
async def test_what_a_target_is_called_and_looks_for_never_changes_the_reason(
    name: str, fault: Fault, code: str, scene: Make, autojump_clock: MockClock
) -> None:
    stage = Stage()
    fault(stage)
    run = scene(source=stage.source, targets=(a_target(tag=name, r18=True),))
    cell = await ended(run)
    assert name in (cell.last_error or "") or code == LIMITED
    assert cell.reason_code == code


@pytest.mark.parametrize(
    ("room", "families"),
    [
        ("pixiv", ("Unavailable", "Lost")),
        ("download", ("Unavailable",)),
        ("ledger", ("Unavailable",)),
        ("delivery", ("Unavailable",)),
        ("slots", ("Unavailable", "Held")),
    ],
)
def test_whatever_is_raised_as_something_that_may_pass_says_what_the_matter_is(
    room: str, families: tuple[str, ...]
) -> None:
    silent = [
        f"{path.name}:{call.lineno}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in families
        if "cause" not in {keyword.arg for keyword in call.keywords}
    ]
    assert silent == []
