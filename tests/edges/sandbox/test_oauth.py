"""The login service takes what the real one takes, and refuses the rest in its words."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from pixivflow.sandbox.clock import MANUAL_START
from pixivflow.sandbox.message import Reply
from pixivflow.sandbox.oauth import REDIRECT_URI, challenge_of
from tests.fixtures.sandboxes import FORM, MANUAL, Asker, client_time, form

VERIFIER = "a-verifier-of-forty-three-characters-at-least-0"


def told(reply: Reply) -> Any:
    return msgspec.json.decode(reply.body)


def test_a_refresh_gives_a_token_and_says_everything_twice(ask: Asker) -> None:
    reply = ask.refresh()
    grant = told(reply)
    assert reply.status == 200
    assert (grant["access_token"], grant["expires_in"], grant["refresh_token"]) == ("at-000001", 3_600, "rt-valid")
    assert grant["user"]["id"] == grant["response"]["user"]["id"] == "9000001"
    assert {name: grant[name] for name in grant["response"] if name != "user"} == {
        name: value for name, value in grant["response"].items() if name != "user"
    }


def test_the_usual_refresh_token_stays(ask: Asker) -> None:
    assert [told(ask.refresh())["refresh_token"] for _ in range(3)] == ["rt-valid"] * 3


@pytest.mark.case("sandbox", 3)
def test_a_rotating_refresh_token_is_good_once_and_its_successor_takes_its_place(ask: Asker) -> None:
    successor = told(ask.refresh("rt-rotating"))["refresh_token"]
    again = ask.refresh("rt-rotating")
    assert (again.status, told(again)["errors"]["system"]["code"], told(again)["error"]) == (400, 1508, "invalid_grant")
    assert ask.refresh(successor).status == 200
    assert ask.refresh(successor).status == 400


@pytest.mark.parametrize(
    ("changed", "error", "code"),
    [
        pytest.param({"client_id": "x"}, "invalid_client", 1501, id="another client"),
        pytest.param({"client_secret": "x"}, "invalid_client", 1501, id="another secret"),
        pytest.param({"grant_type": "password"}, "unsupported_grant_type", 1502, id="another grant"),
        pytest.param({"refresh_token": "rt-nobodys"}, "invalid_grant", 1508, id="an unknown token"),
        pytest.param({"refresh_token": "rt-revoked"}, "invalid_grant", 1508, id="a revoked token"),
        pytest.param({"refresh_token": ""}, "invalid_grant", 1508, id="no token"),
        pytest.param({"grant_type": "authorization_code"}, "invalid_grant", 1509, id="no code"),
    ],
)
def test_a_wrong_form_is_refused_with_its_own_error(ask: Asker, changed: dict[str, str], error: str, code: int) -> None:
    reply = ask("POST", "/oauth/auth/token", form(**changed), {**FORM, **client_time()})
    assert (reply.status, told(reply)["error"], told(reply)["errors"]["system"]["code"]) == (400, error, code)
    assert told(reply)["has_error"] is True


def test_a_form_that_says_that_it_is_json_is_no_form(ask: Asker) -> None:
    reply = ask("POST", "/oauth/auth/token", form(), {"content-type": "application/json", **client_time()})
    assert told(reply)["error"] == "invalid_client"


TIME = client_time()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 400, id="no time"),
        pytest.param(TIME, 200, id="the right time and hash"),
        pytest.param({**TIME, "x-client-hash": "0" * 32}, 400, id="a wrong hash"),
        pytest.param({**TIME, "x-client-hash": TIME["x-client-hash"].upper()}, 400, id="a hash in capitals"),
        pytest.param({**TIME, "x-client-time": "2026-01-15T03:00:01+00:00"}, 400, id="the hash of another time"),
        pytest.param({**TIME, "x-client-time": "now"}, 400, id="a time that is none"),
        pytest.param(client_time(MANUAL_START + 300_000), 200, id="five minutes ahead"),
        pytest.param(client_time(MANUAL_START - 301_000), 400, id="more than five minutes behind"),
    ],
)
def test_a_refresh_says_when_it_was_made_and_proves_it(ask: Asker, headers: dict[str, str], status: int) -> None:
    assert ask("POST", "/oauth/auth/token", form(), {**FORM, **headers}).status == status


def test_a_sandbox_that_is_not_strict_asks_for_no_time() -> None:
    lenient = Asker(msgspec.structs.replace(MANUAL, strict=False))
    assert lenient("POST", "/oauth/auth/token", form(), FORM).status == 200


@pytest.mark.parametrize(("method", "path"), [("GET", "/oauth/auth/token"), ("POST", "/oauth/token")])
def test_tokens_are_given_at_one_address_to_a_post(ask: Asker, method: str, path: str) -> None:
    assert ask(method, path, form(), {**FORM, **client_time()}).status == 404


# --- access tokens ---


@pytest.mark.case("sandbox", 2)
def test_a_data_call_needs_a_token_that_is_known_and_has_time_left(ask: Asker) -> None:
    target = "/app/v1/illust/detail?illust_id=100001"
    none = ask("GET", target)
    good = ask("GET", target, headers=ask.bearer)
    ask.tell("/clock", {"advance_ms": 3_600_000})
    expired = ask("GET", target, headers=ask.bearer)
    unknown = ask("GET", target, headers={"authorization": "Bearer at-999999"})
    assert [reply.status for reply in (none, good, expired, unknown)] == [400, 200, 400, 400]
    text = "Error occurred at the OAuth process. Please check your Access Token to fix this. Error Message: "
    assert told(none)["error"]["message"] == f"{text}invalid_request"
    assert told(expired)["error"]["message"] == told(unknown)["error"]["message"] == f"{text}invalid_grant"


@pytest.mark.case("sandbox", 15)
def test_an_access_token_ends_an_hour_after_it_was_given(ask: Asker) -> None:
    assert ask.call("/v1/trending-tags/illust").status == 200
    ask.tell("/clock", {"advance_ms": 3_599_999})
    assert ask.call("/v1/trending-tags/illust").status == 200
    ask.tell("/clock", {"advance_ms": 1})
    assert ask.call("/v1/trending-tags/illust").status == 400


def test_an_older_access_token_stays_good_beside_a_newer_one(ask: Asker) -> None:
    older = ask.bearer
    ask.refresh("rt-rotating")
    assert ask("GET", "/app/v1/trending-tags/illust", headers=older).status == 200


def test_an_expired_token_can_be_refused_with_401(ask: Asker) -> None:
    ask.tell("/options", {"auth_status": 401})
    assert ask("GET", "/app/v1/trending-tags/illust", headers={"authorization": "Bearer x"}).status == 401
    assert ask("GET", "/app/v1/trending-tags/illust").status == 400


@pytest.mark.parametrize("scheme", ["bearer", "Basic", "OAuth"])
def test_another_scheme_is_no_token(ask: Asker, scheme: str) -> None:
    token = ask.bearer["authorization"].removeprefix("Bearer ")
    assert ask("GET", "/app/v1/trending-tags/illust", headers={"authorization": f"{scheme} {token}"}).status == 400


# --- the login in a browser ---


def a_code(ask: Asker) -> str:
    """The code that a browser would bring back."""
    query = f"code_challenge={challenge_of(VERIFIER)}&code_challenge_method=S256&client=pixiv-android"
    page = ask("GET", f"/app/web/v1/login?{query}")
    assert page.status == 302
    first = page.header("Location") or ""
    assert first.startswith(f"{ask.base}/app/web/v1/users/auth/pixiv/callback?state=s1&code=")
    last = ask("GET", first)
    assert last.status == 302
    assert (last.header("Location") or "").startswith("pixiv://account/login?code=")
    found = parse_qs(urlsplit(last.header("Location") or "").query)
    assert found["via"] == ["login"]
    return found["code"][0]


def exchanged(ask: Asker, code: str, verifier: str = VERIFIER, redirect: str = REDIRECT_URI) -> Reply:
    fields = {"code": code, "code_verifier": verifier, "redirect_uri": redirect}
    return ask("POST", "/oauth/auth/token", form(grant_type="authorization_code", **fields), FORM)


def test_a_login_in_a_browser_ends_in_tokens_that_work(ask: Asker) -> None:
    grant = told(exchanged(ask, a_code(ask)))
    assert ask.refresh(grant["refresh_token"]).status == 200
    bearer = {"authorization": f"Bearer {grant['access_token']}"}
    assert ask("GET", "/app/v1/trending-tags/illust", headers=bearer).status == 200


@pytest.mark.case("sandbox", 4)
def test_a_code_is_good_once_for_half_a_minute_and_for_who_asked_for_it(ask: Asker) -> None:
    wrong = exchanged(ask, a_code(ask), verifier="another-verifier-of-forty-three-characters-00")
    late_code = a_code(ask)
    ask.tell("/clock", {"advance_ms": 31_000})
    late = exchanged(ask, late_code)
    code = a_code(ask)
    once, twice = exchanged(ask, code), exchanged(ask, code)
    assert [reply.status for reply in (wrong, late, once, twice)] == [400, 400, 200, 400]
    assert {told(reply)["error"] for reply in (wrong, late, twice)} == {"invalid_grant"}


def test_a_code_is_not_given_to_another_address(ask: Asker) -> None:
    assert exchanged(ask, a_code(ask), redirect="https://example.invalid/").status == 400


@pytest.mark.parametrize("query", ["", "code_challenge=x", "code_challenge=x&code_challenge_method=plain"])
def test_a_login_without_a_challenge_is_no_login(ask: Asker, query: str) -> None:
    assert ask("GET", f"/app/web/v1/login?{query}").status == 400
