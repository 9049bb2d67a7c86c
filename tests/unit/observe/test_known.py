"""Which texts of a process are secrets."""

import base64

from pixivflow.config.mask import Secret
from pixivflow.config.model import Delivery, HttpMultipart, Pixiv, Route, Settings, Webhook
from pixivflow.ids import RouteName
from pixivflow.observe.known import known_secrets


def test_every_secret_of_a_snapshot_is_known_with_what_its_references_stand_for() -> None:
    routes: dict[RouteName, Route] = {
        RouteName("hook"): Webhook(
            url="https://h/${PATH_SECRET}/${BASE}",
            token=Secret("${TOKEN}"),
            signing_secret=Secret("signed"),
            headers={"Authorization": Secret("Bearer ${HEADER}-tail"), "Accept": Secret("text/plain")},
        ),
        RouteName("bot"): HttpMultipart(url="http://h", headers={"X-Api-Key": Secret("api-key-value")}),
    }
    settings = Settings(
        manual_token=Secret("manual"), pixiv=Pixiv(client_secret=Secret("client")), delivery=Delivery(targets=routes)
    )
    environ = {"TOKEN": "from-outside", "HEADER": "header", "PATH_SECRET": "in-the-path", "BASE": "v1"}
    assert {each for each in known_secrets(settings, environ) if each} == {
        "from-outside",
        "signed",
        "header",
        "-tail",
        "in-the-path",
        "api-key-value",
        "manual",
        "client",
    }


def test_what_the_addresses_of_a_snapshot_carry_is_a_secret_as_well() -> None:
    url = "https://user:pass%20word@h/path?key=as%2Fwritten&format=json&more=${MORE}"
    routes: dict[RouteName, Route] = {RouteName("hook"): Webhook(url=url)}
    known = set(known_secrets(Delivery(targets=routes), {})) - {""}
    assert known == {
        *("pass%20word", "pass word", "as%2Fwritten", "as/written"),
        *("user:pass%20word", "user:pass word", base64.b64encode(b"user:pass word").decode()),
    }


def test_a_placeholder_is_no_secret_and_a_variable_that_is_not_set_is_none() -> None:
    settings = Settings(pixiv=Pixiv(client_secret=Secret("${UNSET}")))
    assert [each for each in known_secrets(settings, {}) if each] == []
