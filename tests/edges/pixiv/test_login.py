"""The account's login: one refresh at a time, the newest credential, and nothing of it in any text."""

import hashlib
import json
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pixivflow.errors import AuthNeeded, Outage, Unavailable
from pixivflow.ids import WorkId
from pixivflow.pixiv import credentials
from pixivflow.pixiv.answers import Reply
from pixivflow.pixiv.credentials import ACCESS, REFRESH, Token
from pixivflow.pixiv.guise import app_headers, time_headers
from pixivflow.pixiv.login import granted
from pixivflow.slots.model import BoundWork, WorkType
from tests.edges.pixiv.stage import REVOKED, ROTATING, VALID, Stage

WORK = BoundWork(work_id=WorkId("100001"), work_type=WorkType.ILLUSTRATION)


def kept(stage: Stage, left_ms: int, access: str = "at-old") -> None:
    token = Token(access_token=access, expires_at=stage.clock.now_ms() + left_ms, refresh_token=VALID)
    stage.rows.values = {ACCESS: msgspec.json.encode(token).decode(), REFRESH: msgspec.json.encode(token).decode()}
    stage.rows.values["pixiv_config_token_sha256"] = hashlib.sha256(VALID.encode()).hexdigest()
    stage.played.ask.service.state.tokens._access[access] = token.expires_at


@pytest.mark.case("download", 1)
async def test_without_a_token_there_is_one_refresh_and_its_token_is_used(autojump_clock: MockClock) -> None:
    stage = Stage()
    await stage.source.detail(WORK)
    (_, login), (_, asked) = stage.played.sent
    assert (login.method, login.url.path) == ("POST", "/oauth/auth/token")
    assert b"grant_type=refresh_token" in login.content
    assert "authorization" not in login.headers
    assert asked.headers["authorization"] == "Bearer " + json.loads(stage.rows.values[ACCESS])["accessToken"]


@pytest.mark.case("download", 2)
@pytest.mark.parametrize(("left_ms", "refreshes"), [(59_000, 1), (61_000, 0)])
async def test_a_token_with_less_than_a_minute_left_is_renewed(
    left_ms: int, refreshes: int, autojump_clock: MockClock
) -> None:
    stage = Stage()
    kept(stage, left_ms)
    await stage.source.detail(WORK)
    assert len(stage.played.paths("/oauth/")) == refreshes


@pytest.mark.case("download", 3)
async def test_twenty_who_need_a_token_make_one_request_for_it(autojump_clock: MockClock) -> None:
    stage = Stage()
    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(stage.source.detail, WORK)
    assert len(stage.played.paths("/oauth/")) == 1
    assert len(stage.played.paths("/detail")) == 20


async def test_twenty_who_wait_for_a_login_that_fails_share_its_failure(autojump_clock: MockClock) -> None:
    stage, failures = Stage(), list[Unavailable]()
    stage.played.fault("status", match={"kind": "oauth"}, code=503)

    async def ask() -> None:
        try:
            await stage.source.detail(WORK)
        except Unavailable as error:
            failures.append(error)

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(ask)
    assert len(failures) == 20
    assert len(stage.played.paths("/oauth/")) == 3


async def test_a_rotated_token_is_written_down_and_used_in_the_next_life(autojump_clock: MockClock) -> None:
    stage = Stage(token=ROTATING)
    await stage.source.detail(WORK)
    await trio.sleep(3_600)
    await stage.source.detail(WORK)
    await trio.sleep(3_600)
    await stage.again().detail(WORK)
    used = [request.content.decode() for _, request in stage.played.sent if "/oauth/" in request.url.path]
    assert [ROTATING in form for form in used] == [True, False, False]
    assert len(set(used)) == 3


async def test_a_refresh_under_way_is_not_cut_by_a_cancellation(autojump_clock: MockClock) -> None:
    stage = Stage(token=ROTATING)
    with trio.move_on_after(10) as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stage.source.detail, WORK)
            while not stage.played.sent:
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
    assert not scope.cancelled_caught
    assert ROTATING not in stage.rows.values[REFRESH]
    await stage.again().detail(WORK)


async def test_a_login_service_that_hangs_holds_a_cancelled_task_for_a_moment_only(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.fault("stall", match={"kind": "oauth"})
    began = trio.current_time()
    with trio.move_on_after(1):
        await stage.source.detail(WORK)
    assert trio.current_time() - began == pytest.approx(2.5)


@pytest.mark.case("download", 6)
async def test_a_dead_credential_is_shown_once_and_never_again(autojump_clock: MockClock) -> None:
    stage = Stage(token=REVOKED)
    for _ in range(3):
        with pytest.raises(
            AuthNeeded, match=r"Pixiv refused its refresh token; put a new one into pixiv\.refreshToken"
        ):
            await stage.source.detail(WORK)
    assert stage.played.paths() == ["/oauth/auth/token"]


@pytest.mark.case("download", 7)
async def test_a_login_service_that_is_down_is_asked_again_after_growing_pauses(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.fault("status", match={"kind": "oauth"}, count=2, code=503)
    await stage.source.detail(WORK)
    assert stage.played.times("/oauth/") == [0, 1, 3]


async def test_a_login_that_answers_nonsense_is_no_dead_login(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.fault("html", match={"kind": "oauth"})
    with pytest.raises(Unavailable):
        await stage.source.detail(WORK)


@pytest.mark.case("download", 8)
async def test_a_token_that_the_service_refuses_is_renewed_and_the_request_made_again(
    autojump_clock: MockClock,
) -> None:
    stage = Stage()
    kept(stage, 3_000_000)
    stage.played.ask.service.state.tokens.expire_all()
    assert (await stage.source.detail(WORK)).id == "100001"
    assert [path.rpartition("/")[2] for path in stage.played.paths()] == ["detail", "token", "detail"]


async def test_a_token_refused_over_and_over_is_a_dead_login_after_one_refresh(autojump_clock: MockClock) -> None:
    stage = Stage()
    kept(stage, 3_000_000)
    stage.played.fault("oauth_400", match={"kind": "api"})
    with pytest.raises(AuthNeeded, match="refused the token that it had just given"):
        await stage.source.detail(WORK)
    assert len(stage.played.paths("/oauth/")) == 1
    assert len(stage.played.paths("/detail")) == 2


@pytest.mark.case("download", 10)
async def test_a_process_that_may_only_read_never_asks_for_a_token(autojump_clock: MockClock) -> None:
    stage = Stage(readonly=True)
    with pytest.raises(AuthNeeded, match="PIXIV_AUTH_READONLY"):
        await stage.source.detail(WORK)
    assert stage.played.sent == []


async def test_an_account_without_a_refresh_token_says_which_setting_wants_one(autojump_clock: MockClock) -> None:
    stage = Stage(token="YOUR_REFRESH_TOKEN")  # as the example of a configuration has it
    with pytest.raises(AuthNeeded, match=r"it has no refresh token; put a new one into pixiv\.refreshToken"):
        await stage.source.detail(WORK)
    assert stage.played.sent == []


@pytest.mark.case("download", 125)
async def test_the_newest_credential_wins_and_an_old_one_serves_while_the_new_one_does_not(
    autojump_clock: MockClock,
) -> None:
    stage = Stage(token=ROTATING)
    await stage.source.detail(WORK)  # the settings' token is dead now, the rows hold its successor
    await trio.sleep(4_000)
    await stage.again().detail(WORK)
    assert ROTATING not in stage.played.sent[-2][1].content.decode()
    await stage.again(VALID).detail(WORK)  # a person put a new one in: a good access token does not hide it
    assert VALID in stage.played.sent[-2][1].content.decode()
    assert json.loads(stage.rows.values[REFRESH])["refreshToken"] == VALID
    await trio.sleep(4_000)
    await stage.again(REVOKED).detail(WORK)  # the new one is refused
    assert stage.probe.heard("pixiv.credential_refused") == [{"from_settings": True}]


async def test_a_ledger_that_is_full_costs_no_login(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.rows.full = True
    await stage.source.detail(WORK)
    assert stage.probe.heard("pixiv.token_not_kept")


async def test_a_rotated_token_that_found_no_room_is_written_once_there_is_some(autojump_clock: MockClock) -> None:
    stage = Stage(token=ROTATING)
    stage.rows.full = True
    for _ in range(2):
        await stage.source.detail(WORK)
    assert REFRESH not in stage.rows.values
    stage.rows.full = False
    await stage.source.detail(WORK)
    assert len(stage.probe.heard("pixiv.token_not_kept")) == 1
    await stage.again().detail(WORK)  # what the settings hold was ended by the rotation
    assert not stage.probe.heard("pixiv.credential_refused")


async def test_no_note_and_no_error_holds_a_token(autojump_clock: MockClock) -> None:
    stage = Stage(retries=1)
    texts: list[str] = []
    for fault in ("html", "reset", "oauth_400", "rate_403", "stall"):
        stage.played.fault(fault, count=2, match={"kind": "api"})
        with pytest.raises((Unavailable, AuthNeeded)) as raised:
            await stage.again(REVOKED if fault == "stall" else None).detail(WORK)
        texts += [str(raised.value), repr(raised.value), repr(raised.value.__cause__)]
        stage.rows.gates.clear()
    told = " ".join([*texts, repr(stage.probe.notes)])
    assert all(secret not in told for secret in (VALID, ROTATING, "Bearer", "at-0"))
    assert VALID not in repr(Token(access_token="at-1", expires_at=1, refresh_token=VALID))


@pytest.mark.case("download", 11)
def test_the_client_proves_its_time_with_the_whole_secret() -> None:
    told = time_headers(1_768_446_000_123)
    secret = "28c1fdd170a5204386cb1313c7077b34f83e4aaf4aa829ce78c231e05b0bae2c"
    assert told["X-Client-Time"] == "2026-01-15T03:00:00+00:00"
    signed = ("2026-01-15T03:00:00+00:00" + secret).encode()
    assert told["X-Client-Hash"] == hashlib.md5(signed, usedforsecurity=False).hexdigest()


@pytest.mark.parametrize(
    ("agent", "system", "version"),
    [
        ("PixivAndroidApp/5.0.234 (Android 11; Pixel 6)", "android", "11"),
        ("PixivIOSApp/7.19.1 (iOS 16.7.2; iPhone12,8)", "ios", "16.7.2"),
        ("curl/8", "ios", "14.6"),
    ],
)
def test_headers_tell_of_one_platform(agent: str, system: str, version: str) -> None:
    headers = app_headers(agent)
    assert (headers["App-OS"], headers["App-OS-Version"]) == (system, version)


@pytest.mark.parametrize(
    ("fault", "args"),
    [
        pytest.param("status", {"code": 503}, id="down"),
        pytest.param("status", {"code": 400}, id="a refusal of no credential"),
        pytest.param("html", {}, id="a page for people"),
        pytest.param("reset", {}, id="no answer"),
    ],
)
async def test_a_login_service_that_does_not_serve_is_an_outage_for_everybody_and_left_alone_for_a_minute(
    fault: str, args: dict[str, Any], autojump_clock: MockClock
) -> None:
    stage = Stage()
    stage.played.fault(fault, match={"kind": "oauth"}, count=3, **args)
    for _ in range(10):
        with pytest.raises(Outage):
            await stage.source.detail(WORK)
    assert len(stage.played.paths("/oauth/")) == 3
    with pytest.raises(Outage) as raised:
        await stage.source.detail(WORK)
    assert raised.value.retry_after_s == pytest.approx(60)
    await trio.sleep(60)
    await stage.source.detail(WORK)
    assert len(stage.played.paths("/oauth/")) == 4


async def test_a_clock_that_is_set_back_does_not_keep_a_login_service_alone_for_hours(
    autojump_clock: MockClock,
) -> None:
    stage = Stage()
    stage.played.fault("status", match={"kind": "oauth"}, count=3, code=503)
    with pytest.raises(Outage):
        await stage.source.detail(WORK)
    stage.clock.step(-3_600_000)
    await stage.source.detail(WORK)


async def test_a_ledger_that_does_not_answer_is_no_outage_of_pixiv(autojump_clock: MockClock) -> None:
    stage = Stage()

    async def busy(key: str) -> str | None:
        raise Unavailable("the ledger is busy")

    stage.rows.read = busy  # type: ignore[method-assign]
    with pytest.raises(Unavailable) as raised:
        await stage.source.detail(WORK)
    assert not isinstance(raised.value, Outage)


DEEP = b'{"x": ' + b"[" * 300_000 + b"]" * 300_000 + b"}"


def a_grant(**told: object) -> bytes:
    return json.dumps({"access_token": "at-1", "refresh_token": "rt-1", "expires_in": 3600, **told}).encode()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(DEEP, id="nothing but depth"),
        pytest.param(a_grant(expires_in=1e308), id="a lifetime beyond all clocks"),
        pytest.param(a_grant(expires_in=10**30), id="a lifetime of ages"),
        pytest.param(a_grant(expires_in=0), id="no lifetime"),
        pytest.param(a_grant(expires_in=-1), id="a lifetime that is over"),
        pytest.param(a_grant(access_token="at\r\nX: y"), id="a second header"),
        pytest.param(a_grant(access_token="at\u2603"), id="a token that is no ASCII"),
        pytest.param(a_grant(access_token="at \x00"), id="a token with controls"),
        pytest.param(a_grant(access_token=""), id="no token"),
        pytest.param(a_grant(refresh_token="rt\ud83d"), id="half a surrogate"),
        pytest.param(a_grant(refresh_token="r" * 5_000), id="a token without an end"),
        pytest.param(b'{"response": ' + a_grant(access_token="at\n") + b"}", id="the same, wrapped"),
    ],
)
def test_a_grant_that_cannot_be_used_is_none(body: bytes) -> None:
    with pytest.raises(Unavailable, match="no token"):
        granted(Reply(status=200, body=body))


def test_a_refusal_that_nobody_can_read_refuses_no_credential() -> None:
    with pytest.raises(Unavailable, match="HTTP 400"):
        granted(Reply(status=400, body=DEEP))


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_grant_may_be_wrapped(wrapped: bool) -> None:
    body = b'{"response": ' + a_grant() + b"}" if wrapped else a_grant()
    assert granted(Reply(status=200, body=body)).access_token == "at-1"


@pytest.mark.parametrize("row", [DEEP.decode(), '{"accessToken": "a\\n", "expiresAt": 9, "refreshToken": "r"}'])
def test_a_row_that_holds_no_token_that_can_be_sent_holds_none(row: str) -> None:
    assert credentials.read(row) is None
