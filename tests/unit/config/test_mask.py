"""What nobody may see."""

import pytest

from pixivflow.config.mask import MASK, Secret, masked, shown

PLANTED = "planted-secret"


@pytest.mark.parametrize(
    "path",
    [
        "pixiv.refreshToken",
        "pixiv.clientSecret",
        "network.proxy.password",
        "schedulerRuntime.trigger.token",
        "delivery.targets.r.token",
        "delivery.targets.r.signingSecret",
        "delivery.targets.r.botToken",
        "delivery.targets.r.controlPlaneToken",
        "delivery.targets.r.headers.Authorization",
        "delivery.targets.r.headers.COOKIE",
        "delivery.targets.r.headers.X-Auth",
        "delivery.targets.r.headers.x-my-token",
        "delivery.targets.r.headers.X-Client-Secret",
        "delivery.targets.r.headers.X-Api-Key",
        "targets.richNovelPreview.headers.Authorization",
        "refresh_token",
        "something.new.apiKey",
        "pixiv.tokens.first",
    ],
)
@pytest.mark.parametrize("value", [PLANTED, [PLANTED], {"deep": [PLANTED]}, 12345])
def test_a_secret_is_masked_whole_wherever_it_stands_and_whatever_it_is(path: str, value: object) -> None:
    document: object = value
    for key in reversed(path.split(".")):
        document = {key: document}
    text = str(masked(document))
    assert PLANTED not in text
    assert "12345" not in text
    assert MASK in text


@pytest.mark.parametrize(
    "document",
    [
        {"pixiv": {"deviceToken": "pixiv", "userAgent": "x"}},
        {"tokenMaintenance": {"enabled": True, "refreshInterval": 5}},
        {"delivery": {"targets": {"my-token": {"url": "http://x/", "headers": {"X-Kind": "y"}}}}},
        {"schedulerRuntime": {"trigger": {"token": "${TRIGGER}"}}},
        {"delivery": {"targets": {"r": {"headers": {"Authorization": "Bearer ${A}${B}"}}}}},
        {"targets": [{"excludeAI": True, "limit": 5, "tag": None}], "autoIdempotencyKey": True},
    ],
)
def test_what_is_no_secret_stays_as_it_is_written(document: object) -> None:
    assert masked(document) == document


def test_half_a_secret_beside_a_reference_is_a_secret() -> None:
    assert masked({"token": "abc${REST}"}) == {"token": MASK}


def test_the_user_of_an_address_is_masked_in_it() -> None:
    assert masked({"url": "http://me:planted@h/x"}) == {"url": "http://***@h/x"}


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://h/x?key=planted&b", "https://h/x?key=***&***"),
        ("https://h/x?key=${KEY}&k=planted${KEY}", "https://h/x?key=${KEY}&k=***"),
        ("h/x?key=planted", "h/x?key=***"),
        ("https://h:8/x/y", "https://h:8/x/y"),
        ("${WHERE}", "${WHERE}"),
    ],
)
def test_what_a_query_tells_is_masked_in_an_address(address: str, expected: str) -> None:
    assert masked({"r": {"readinessUrl": address}}) == {"r": {"readinessUrl": expected}}


@pytest.mark.parametrize("key", ["url", "notificationUrl", "api", "anything"])
@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("ftp://e.org/h?key=planted", '"ftp://e.org/h?…"'),
        ("ftp://me:planted@e.org:21/h#planted", '"ftp://redacted@e.org:21/h"'),
        ("ftp://planted@e.org", '"ftp://redacted@e.org"'),
        ("ftp://e.org/bot12:planted/send", '"ftp://e.org/bot***/send"'),
        ("https://e.org/h ?key=planted", "what stands there"),
        ("https://me:pla/planted@e.org/", "what stands there"),
    ],
)
def test_of_an_address_a_message_says_the_place_alone(key: str, address: str, expected: str) -> None:
    assert shown(("r", key), address) == expected.replace("…", "\\u2026")


@pytest.mark.parametrize("value", ["e.org/h?key=planted", "planted", "//planted@h/"])
def test_of_what_should_be_an_address_and_is_none_a_message_says_nothing(value: str) -> None:
    assert shown(("r", "url"), value) == "what stands there"
    assert shown(("proxy", "host"), "me:planted@h") == "what stands there"
    assert shown(("proxy", "host"), "no host") == '"no host"'
    assert shown(("r", "url"), "") == '""'
    assert shown(("r", "url"), "${WHERE}") == '"${WHERE}"'


@pytest.mark.parametrize(
    ("at", "value", "expected"),
    [
        (("a",), "x", '"x"'),
        (("a",), 5, "5"),
        (("a",), None, "null"),
        (("a",), [1], "a list"),
        (("a",), {}, "an object"),
        (("token",), PLANTED, "what stands there"),
        (("a",), "\x1b[2J\n", '"\\u001b[2J\\n"'),
        (("a",), "\ud800", '"\\ud800"'),
    ],
)
def test_a_message_repeats_no_more_than_it_may(at: tuple[str, ...], value: object, expected: str) -> None:
    assert shown(at, value) == expected


def test_a_secret_shows_itself_to_nobody_who_does_not_ask() -> None:
    secret = Secret(PLANTED)
    assert PLANTED not in f"{secret} {secret!r} {[secret]} {secret}"
    assert secret.reveal() == PLANTED
    assert (bool(secret), bool(Secret())) == (True, False)


def test_two_secrets_can_be_compared_without_showing_either() -> None:
    assert Secret("a") == Secret("a") != Secret("b")
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
