"""The rest of a document, and how findings are told."""

import json
from pathlib import Path

import pytest

from pixivflow.config.validate import ConfigInvalid, validate
from tests.fixtures.documents import Document, a_document, a_multipart, a_webhook, found, said, with_routes


def case(number: int) -> pytest.MarkDecorator:
    return pytest.mark.case("operate", number)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param({"logLevel": "verbose"}, ["E:LOG_LEVEL_INVALID logLevel"], marks=case(9), id="a loud level"),
        pytest.param({"initialDelay": -1}, ["E:FIELD_INVALID initialDelay"], id="a negative delay"),
        pytest.param({"pixiv": []}, ["E:PIXIV_REQUIRED pixiv"], id="an account that is a list"),
        pytest.param({"pixiv": {"clientId": " "}}, ["E:PIXIV_CLIENT_ID_REQUIRED pixiv.clientId"], id="a blank client"),
        pytest.param({"pixiv": {"deviceToken": " "}}, [], id="a blank device is the usual one"),
        pytest.param({"pixiv": {"accountId": ""}}, ["E:FIELD_INVALID pixiv.accountId"], id="an account without name"),
        pytest.param(
            {"pixiv": {"endpoints": {"api": "http://127.0.0.1:1/x?y"}}},
            ["E:FIELD_INVALID pixiv.endpoints.api", "W:ENDPOINTS_REPLACED pixiv.endpoints"],
            id="an endpoint with a query",
        ),
        pytest.param(
            {"pixiv": {"endpoints": {"api": "http://u@h"}}},
            ["E:FIELD_INVALID pixiv.endpoints.api", "W:ENDPOINTS_REPLACED pixiv.endpoints"],
            id="an endpoint with a user",
        ),
        pytest.param(
            {"pixiv": {"endpoints": {"api": "http://127.0.0.1:1"}}},
            ["W:ENDPOINTS_REPLACED pixiv.endpoints"],
            id="an endpoint of one's own is never unnoticed",
        ),
        pytest.param({"network": {"timeoutMs": 5}}, ["W:FIELD_RANGE network.timeoutMs"], id="a short wait"),
        pytest.param({"network": {"retries": "3"}}, ["E:FIELD_INVALID network.retries"], id="a number in quotes"),
        pytest.param({"storage": "x"}, ["E:STORAGE_REQUIRED storage"], id="a storage that is text"),
        pytest.param(
            {"storage": {"downloadDirectory": ""}},
            ["E:DOWNLOAD_DIRECTORY_REQUIRED storage.downloadDirectory"],
            id="nowhere to put files",
        ),
        pytest.param(
            {"storage": {"databasePath": "a\0b"}}, ["E:FIELD_INVALID storage.databasePath"], id="a path with NUL"
        ),
        pytest.param(
            {"storage": {"cacheRetentionDays": -1, "cacheMaxSizeMB": float("inf")}},
            ["E:CACHE_RETENTION_INVALID storage.cacheRetentionDays", "E:CACHE_MAX_SIZE_INVALID storage.cacheMaxSizeMB"],
            id="numbers that are no sizes",
        ),
        pytest.param(
            {"storage": {"novelOrganization": "byMood"}},
            ["E:ORGANIZATION_INVALID storage.novelOrganization"],
            id="mood",
        ),
        pytest.param({"download": {"maxConcurrency": 5}}, ["W:UNKNOWN_KEY download.maxConcurrency"], id="an old key"),
        pytest.param(
            {"download": {"ugoiraFormat": "mp4", "novelEpub": "all", "novelCover": {"probeFailed": "maybe"}}},
            [
                "E:FIELD_INVALID download.ugoiraFormat",
                "E:FIELD_INVALID download.novelEpub",
                "E:NOVEL_COVER_INVALID download.novelCover.probeFailed",
            ],
            marks=case(84),
            id="formats that nobody makes",
        ),
        pytest.param(
            {"jobs": {"callbacks": {"allowHosts": ["https://x"]}}},
            ["E:CALLBACK_HOST_INVALID jobs.callbacks.allowHosts"],
            id="a host with a scheme",
        ),
        pytest.param({"jobs": {"callbacks": {"allowHosts": ["hook.example.test", "::1"]}}}, [], id="hosts"),
        pytest.param(
            {"tokenMaintenance": {"refreshInterval": 0}}, ["E:FIELD_INVALID tokenMaintenance.refreshInterval"], id="0"
        ),
        pytest.param({"operations": {"notificationUrl": "x"}}, ["E:FIELD_INVALID operations.notificationUrl"], id="x"),
        pytest.param({"foo": {"bar": 1}, "_note": 1}, ["W:UNKNOWN_KEY foo"], id="keys that mean nothing, and comments"),
    ],
)
def test_these_are_named_with_their_place(parts: Document, expected: list[str]) -> None:
    assert found(a_document(**parts)) == expected


@case(32)
def test_a_proxy_says_where_it_is_once_it_is_on() -> None:
    assert found(a_document(network={"proxy": {"enabled": True, "port": 70_000}})) == [
        "E:PROXY_PORT_INVALID network.proxy.port",
        "E:PROXY_HOST_REQUIRED network.proxy.host",
    ]
    assert found(a_document(network={"proxy": {"enabled": False, "port": 70_000, "protocol": 5}})) == []


@case(82)
def test_numbers_out_of_range_are_replaced_where_that_does_no_harm() -> None:
    checked = validate(a_document(download={"maxFallbackStages": 11, "concurrency": 11}))
    assert said(checked.report) == [
        "W:FIELD_RANGE download.maxFallbackStages",
        "W:DOWNLOAD_CONCURRENCY_INVALID download.concurrency",
    ]
    assert checked.used["download"] == {"maxFallbackStages": 10, "concurrency": 10}
    assert "10 is used" in checked.report.warnings[0].message
    target = {"type": "novel", "tag": "x", "topicProfile": {"primary": ["x"], "inventory": {"reserveSize": 101}}}
    assert found(a_document(targets=[target])) == [
        "E:TOPIC_PROFILE_INVALID targets[0].topicProfile.inventory.reserveSize"
    ]


def test_the_least_concurrency_gives_way() -> None:
    assert found(a_document(download={"minConcurrency": 5})) == [
        "W:DOWNLOAD_MIN_CONCURRENCY_INVALID download.minConcurrency"
    ]


def test_all_faults_of_a_file_are_told_at_once_under_its_name() -> None:
    document = a_document(logLevel="loud", targets=[{"type": "manga"}], network={"proxy": {"enabled": 1}})
    told = str(ConfigInvalid(Path("/x/config.json"), validate(document).report.findings))
    assert told.splitlines() == [
        "/x/config.json is not valid:",
        'targets[0].type: must be one of illustration, novel, not "manga"',
        'logLevel: must be one of debug, info, warn, error, not "loud"',
        "network.proxy.enabled: must be true or false, not 1",
        "targets[0].tag: is required, or one of illustId, novelId, seriesId, userId",
    ]


def test_a_program_is_told_codes_and_places_apart_for_faults_and_warnings() -> None:
    told = validate(a_document(logLevel="loud", foo=1)).report.plain()
    assert json.loads(json.dumps(told)) == {
        "valid": False,
        "errors": [
            {
                "code": "CONFIG_VALIDATION_LOG_LEVEL_INVALID",
                "field": "logLevel",
                "message": 'must be one of debug, info, warn, error, not "loud"',
            }
        ],
        "warnings": [
            {"code": "CONFIG_VALIDATION_UNKNOWN_KEY", "field": "foo", "message": "this key means nothing here"}
        ],
    }
    assert validate(a_document(foo=1)).report.plain()["valid"] is True


def test_a_file_of_thousands_of_faults_is_told_in_a_hundred_lines() -> None:
    report = validate(a_document(targets=[{} for _ in range(2_000)])).report
    lines = str(ConfigInvalid(Path("x"), report.findings)).splitlines()
    assert (len(lines), lines[-1]) == (102, "... and 3900 more")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(a_document(pixiv={"refreshToken": ["planted"]}), id="the token"),
        pytest.param(a_document(pixiv={"clientSecret": {"x": "planted"}}), id="the client"),
        pytest.param(
            a_document(network={"proxy": {"enabled": True, "host": "h", "port": 1, "password": ["planted"]}}),
            id="proxy",
        ),
        pytest.param(a_document(schedulerRuntime={"trigger": {"token": ["planted"]}}), id="the trigger"),
        pytest.param(with_routes(r=a_webhook(url="ftp://user:planted@host/")), id="the user of an address"),
        pytest.param(with_routes(r=a_webhook(url="ftp://host/x?key=planted")), id="the query of an address"),
        pytest.param(with_routes(r=a_webhook(url="https://host/x ?key=planted")), id="an address with a gap"),
        pytest.param(with_routes(r=a_multipart(notificationUrl="host/x?key=planted")), id="an address without scheme"),
        pytest.param(a_document(pixiv={"endpoints": {"api": "http://h/?planted"}}), id="an endpoint"),
        pytest.param(with_routes(r=a_webhook(headers={"Authorization": ["planted"]})), id="a header"),
        pytest.param(with_routes(r=a_webhook(signingSecret=["planted"])), id="a signature"),
        pytest.param(a_document(planted_token="planted"), id="a key that nobody knows"),
    ],
)
def test_no_message_repeats_a_secret(document: Document) -> None:
    report = validate(document).report
    assert report.findings
    assert "planted" not in "".join(each.message for each in report.findings)


@pytest.mark.parametrize(
    "document",
    [a_document(pixiv={"clientSecret": 47_110_815}), with_routes(r=a_webhook(headers={"Authorization": 47_110_815}))],
    ids=["the client", "a header"],
)
def test_no_message_repeats_a_secret_that_is_no_text(document: Document) -> None:
    report = validate(document).report
    assert report.findings
    assert "47110815" not in "".join(each.message for each in report.findings)


def test_a_message_repeats_a_value_in_few_printable_characters() -> None:
    (finding,) = validate(a_document(logLevel="\x1b[31m" + "x" * 1000)).report.findings
    assert finding.message.isprintable()
    assert len(finding.message) < 150


@pytest.mark.parametrize("junk", [None, 5, "x", [], [[]], {"targets": [5, None, [], "x"]}, {"pixiv": None}])
def test_no_shape_of_a_document_is_too_strange_to_be_judged(junk: object) -> None:
    assert validate(json.loads(json.dumps(junk))).report.errors
