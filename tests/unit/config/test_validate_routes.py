"""Where works may be delivered to."""

import json

import pytest

from pixivflow.config.validate import validate
from tests.fixtures.documents import (
    Document,
    a_document,
    a_multipart,
    a_target,
    a_telegram,
    a_webhook,
    found,
    said,
    with_routes,
)

AT = "delivery.targets.r"


def case(number: int) -> pytest.MarkDecorator:
    return pytest.mark.case("operate", number)


@pytest.mark.parametrize(
    "route",
    [
        pytest.param(a_multipart(), id="multipart"),
        pytest.param(a_webhook(), id="webhook"),
        pytest.param(a_webhook(url="${BASE}/s", token="${TOKEN}"), id="an address that the request fills in"),
        pytest.param(a_multipart(url="http://[::1]:8080/x"), id="an address of version 6"),
        pytest.param(a_multipart(fields={"a": "{{title}}", "b": 1, "c": True, "d": ["{{tag}}"]}), id="fields"),
        pytest.param(a_multipart(ack={"dataPath": "a.b", "keyField": "k"}), id="where an answer says what"),
        pytest.param(a_webhook(capabilities={"maxUploadBytes": 10**12}), id="a limit above the receiver's own"),
        pytest.param(a_multipart(maxAttempts=3, retryDelayMs=0), id="old keys without effect"),
    ],
)
def test_these_routes_are_fine(route: Document) -> None:
    assert found(with_routes(r=route)) == []


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        pytest.param(a_webhook(url=None), ["E:DELIVERY_URL_INVALID url"], id="without an address"),
        pytest.param(a_webhook(url="ftp://x"), ["E:DELIVERY_URL_INVALID url"], id="another scheme"),
        pytest.param(a_webhook(url="https://"), ["E:DELIVERY_URL_INVALID url"], id="without a host"),
        pytest.param(a_webhook(url="http://x:99999/"), ["E:DELIVERY_URL_INVALID url"], id="a port that is none"),
        pytest.param(a_webhook(url="http://x/\n"), ["E:DELIVERY_URL_INVALID url"], id="two lines"),
        pytest.param(a_multipart(method="GET"), ["E:DELIVERY_METHOD_INVALID method"], id="GET"),
        pytest.param(a_multipart(readinessUrl="x"), ["E:DELIVERY_READINESS_URL_INVALID readinessUrl"], id="readiness"),
        pytest.param(a_multipart(maxAttempts=0), ["E:DELIVERY_ATTEMPTS_INVALID maxAttempts"], id="no attempt"),
        pytest.param(a_multipart(fields={"a": {}}), ["E:FIELD_INVALID fields.a"], id="a field that is an object"),
        pytest.param(a_multipart(fields={"a b": 1e999}), ['E:FIELD_INVALID fields["a b"]'], id="an infinite field"),
        pytest.param(a_webhook(timeoutMs=-1), ["E:FIELD_INVALID timeoutMs"], id="a negative deadline"),
        pytest.param(a_webhook(headers={"X": 5}), ["E:FIELD_INVALID headers.X"], id="a header that is a number"),
        pytest.param(a_multipart(fields={"a": "{{titel}}"}), ["W:TEMPLATE_UNKNOWN fields.a"], id="a misspelt name"),
        pytest.param(
            a_webhook(capabilities={"albumMin": 5, "albumMax": 2}),
            ["E:DELIVERY_CAPABILITY_INVALID capabilities.albumMin"],
            marks=case(28),
            id="an album that no number of pictures fits",
        ),
        pytest.param(
            a_webhook(capabilities={"albumMin": 11}),
            ["E:DELIVERY_CAPABILITY_INVALID capabilities.albumMin"],
            id="the same against the usual most",
        ),
    ],
)
def test_these_are_named_with_their_place(route: Document, expected: list[str]) -> None:
    full = [f"{code} {AT}.{field}" for code, field in (each.split(" ", 1) for each in expected)]
    assert found(with_routes(r=route)) == [each.replace(".fields.[", ".fields[") for each in full]


@pytest.mark.parametrize("name", ["X Api Key", "X-Key:", "", "Schlüssel", "X\n"])
def test_a_header_whose_name_no_request_can_carry_is_named_before_any_is_sent(name: str) -> None:
    (finding,) = validate(with_routes(r=a_webhook(headers={name: "planted", "X-Good_1": "y"}))).report.findings
    assert finding.code == "CONFIG_VALIDATION_FIELD_INVALID"
    assert finding.field == f"{AT}.headers[{json.dumps(name)}]"
    assert "must be the name of a header" in finding.message
    assert "planted" not in finding.message


@pytest.mark.parametrize(
    ("value", "fits"), [("a\nb", False), ("a\x00", False), (" ${KEY}\n", True), ("é", True), (5, False)]
)
def test_a_header_whose_value_does_not_fit_on_its_line_is_named(value: object, fits: bool) -> None:
    expected = [] if fits else [f"E:FIELD_INVALID {AT}.headers.X-Kind"]
    assert found(with_routes(r=a_webhook(headers={"X-Kind": value}))) == expected


@case(24)
def test_a_route_has_one_of_three_types() -> None:
    assert found(with_routes(r={"type": "ftp"})) == [f"E:DELIVERY_TYPE_UNSUPPORTED {AT}.type"]
    assert found(with_routes(r={})) == [f"E:DELIVERY_TYPE_UNSUPPORTED {AT}.type"]
    assert found(with_routes(r=a_webhook())) == []


@case(26)
def test_the_longest_retry_is_not_shorter_than_the_first() -> None:
    document = a_document(delivery={"outboxRetryBaseMs": 10, "outboxRetryMaxMs": 5})
    assert found(document) == ["E:OUTBOX_RETRY_RANGE_INVALID delivery.outboxRetryMaxMs"]
    assert found(a_document(delivery={"outboxRetryMaxMs": 5})) == [
        "E:OUTBOX_RETRY_RANGE_INVALID delivery.outboxRetryMaxMs"  # against the usual first one
    ]
    assert found(a_document(delivery={"outboxRetryBaseMs": -1})) == [
        "E:OUTBOX_RETRY_BASE_INVALID delivery.outboxRetryBaseMs"
    ]


@case(29)
def test_a_misspelt_capability_has_no_effect_and_the_right_word_is_offered() -> None:
    checked = validate(with_routes(r=a_webhook(capabilities={"supportsAlbum": True})))
    assert said(checked.report) == [f"W:UNKNOWN_KEY {AT}.capabilities.supportsAlbum"]
    assert 'did you mean "album"?' in checked.report.findings[0].message
    assert checked.used["delivery"] == {"targets": {"r": a_webhook(capabilities={})}}


@case(30)
def test_a_telegram_route_says_everything_that_it_needs() -> None:
    deprecated = f"W:DEPRECATED_KEY {AT}.type"
    assert found(with_routes(r=a_telegram())) == [deprecated]
    assert found(with_routes(r=a_telegram(botToken=None))) == [f"E:DELIVERY_FIELD_REQUIRED {AT}.botToken", deprecated]
    assert found(with_routes(r=a_telegram(botToken="abc"))) == [
        f"E:DELIVERY_BOT_TOKEN_INVALID {AT}.botToken",
        deprecated,
    ]
    assert found(with_routes(r=a_telegram(botToken="${BOT}"))) == [deprecated]


@case(79)
def test_two_review_chats_of_one_control_plane_do_not_share_a_prefix() -> None:
    deprecated = ["W:DEPRECATED_KEY delivery.targets.a.type", "W:DEPRECATED_KEY delivery.targets.b.type"]
    doubled = "E:TELEGRAM_REVIEW_PREFIX_DUPLICATE delivery.targets.b.reviewIdPrefix"
    assert found(with_routes(a=a_telegram(), b=a_telegram())) == [*deprecated, doubled]
    assert found(with_routes(a=a_telegram(), b=a_telegram(reviewIdPrefix="b"))) == deprecated


def test_the_old_success_rule_is_accepted_with_a_word_about_it() -> None:
    assert found(with_routes(r=a_multipart(success={"statuses": [500]}))) == [f"W:DEPRECATED_KEY {AT}.success"]


def test_the_fields_of_a_target_are_looked_through_for_names_too() -> None:
    target = a_target(delivery={"target": "r", "fields": {"t": ["{{tag}}", "{{tagg}}"]}})
    assert found(with_routes(target, r=a_multipart())) == ["W:TEMPLATE_UNKNOWN targets[0].delivery.fields.t"]
