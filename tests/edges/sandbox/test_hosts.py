"""The same routes under the base paths and under the real names."""

import msgspec
import pytest

from pixivflow.sandbox.hosts import REAL
from tests.fixtures.sandboxes import FORM, MANUAL, PIXIV, Asker, client_time, form


@pytest.mark.case("sandbox", 16)
def test_a_real_name_answers_at_the_root_and_no_other_name_below_its_domain(ask: Asker) -> None:
    target = "/v1/illust/detail?illust_id=100001"
    below = ask("GET", f"/app{target}", headers=ask.bearer)
    at_root = ask("GET", target, headers={**ask.bearer, "host": "app-api.pixiv.net"})
    token = ask("POST", "/auth/token", form(), {**FORM, **client_time(), "host": "oauth.secure.pixiv.net"})
    foreign = ask("GET", target, headers={**ask.bearer, "host": "foo.pixiv.net"})
    assert below.body == at_root.body
    assert msgspec.json.decode(token.body)["access_token"]
    assert foreign.status == 404


@pytest.mark.parametrize("host", ["pixiv.net", "pximg.net", "a.b.pximg.net", "APP-API.PIXIV.NET.evil.pixiv.net"])
def test_other_names_of_the_service_are_nobody(ask: Asker, host: str) -> None:
    assert ask("GET", "/app/v1/trending-tags/illust", headers={**ask.bearer, "host": host}).status == 404


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "example.org", "notpixiv.net", ""])
def test_any_other_name_means_the_base_paths(ask: Asker, host: str) -> None:
    assert ask("GET", "/app/v1/trending-tags/illust", headers={**ask.bearer, "host": host}).status == 200


@pytest.mark.parametrize("host", ["APP-API.pixiv.net", "app-api.pixiv.net:443", "app-api.pixiv.net."])
def test_a_real_name_is_known_however_it_is_spelt(ask: Asker, host: str) -> None:
    assert ask("GET", "/v1/trending-tags/illust", headers={**ask.bearer, "host": host}).status == 200


def test_the_image_host_answers_to_its_name(ask: Asker) -> None:
    work = ask.data("/v1/illust/detail", illust_id=100_001)["illust"]
    path = work["meta_single_page"]["original_image_url"].removeprefix(f"{ask.base}/img")
    assert ask("GET", path, headers={**PIXIV, "host": "i.pximg.net"}).status == 200
    assert ask("GET", f"/img{path}", headers={**PIXIV, "host": "i.pximg.net"}).status == 404


def test_the_web_host_answers_to_its_name_and_to_a_wrong_id_in_its_own_shape(ask: Asker) -> None:
    found = ask("GET", "/ajax/illust/100001", headers={"host": "www.pixiv.net"})
    body = msgspec.json.decode(found.body)["body"]
    assert (body["id"], body["urls"]["original"][-14:-4]) == ("100001", "/100001_p0")
    missing = ask("GET", "/web/ajax/illust/99")
    assert missing.status == 404
    assert msgspec.json.decode(missing.body) == {"error": True, "message": missing_text(missing.body), "body": []}


def missing_text(body: bytes) -> str:
    text = msgspec.json.decode(body)["message"]
    assert text
    return str(text)


def test_the_web_host_lists_the_pages_of_a_work_and_the_frames_of_an_animation(ask: Asker) -> None:
    pages = msgspec.json.decode(ask("GET", "/web/ajax/illust/101001/pages").body)["body"]
    frames = msgspec.json.decode(ask("GET", "/web/ajax/illust/101201/ugoira_meta").body)["body"]["frames"]
    assert len(pages) == 2
    assert len(frames) == 3
    assert ask("GET", "/web/ajax/illust/101001/ugoira_meta").status == 404


@pytest.mark.parametrize("target", ["/static/common/images/limit_mypixiv_360.png", "/common/images/x.png"])
def test_the_host_of_placeholders_serves_nothing_and_counts_who_asks(ask: Asker, target: str) -> None:
    host = "s.pximg.net" if target.startswith("/common") else "127.0.0.1"
    assert ask("GET", target, headers={"host": host}).status == 404
    assert ask.tell("/stats", method="GET")["static_hits"] == 1


def addresses(body: bytes) -> set[str]:
    return {part.split(b"/")[2].decode() for part in body.split(b'"') if part.startswith(b"http")}


def test_answers_name_the_plain_port_or_the_real_hosts_as_told(ask: Asker) -> None:
    search = "/app/v1/search/illust?word=%E7%8C%AB"
    real = Asker(msgspec.structs.replace(MANUAL, real_urls=True))
    assert addresses(ask("GET", search, headers=ask.bearer).body) == {"127.0.0.1:8000"}
    assert addresses(real("GET", search, headers=real.bearer).body) == {"i.pximg.net", "app-api.pixiv.net"}
    assert addresses(ask("GET", search, headers=ask.bearer, tls=True).body) == {"i.pximg.net", "app-api.pixiv.net"}


def test_a_token_sent_where_none_is_wanted_is_a_leak(ask: Asker) -> None:
    ask("GET", "/img/user-profile/5001_170.jpg", headers={**PIXIV, **ask.bearer})
    ask("GET", "/web/ajax/illust/100001", headers=ask.bearer)
    ask("GET", "/web/ajax/illust/100001")
    assert ask.tell("/stats", method="GET")["token_leaks"] == 2
    leaks = [record["token_leak"] for record in ask.tell("/requests", method="GET")["requests"][1:]]
    assert leaks == [True, True, False]


@pytest.mark.parametrize("target", ["/", "/other", "/appx/v1/illust/detail", "/app"])
def test_below_no_base_there_is_nothing(ask: Asker, target: str) -> None:
    assert ask("GET", target).status == 404


def test_the_real_names_are_five() -> None:
    assert len(REAL) == 5
