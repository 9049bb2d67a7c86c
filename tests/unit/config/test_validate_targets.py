"""What a target may ask for."""

import pytest

from pixivflow.config.validate import validate
from tests.fixtures.documents import Document, a_document, a_multipart, a_target, a_webhook, found, with_routes

AT = "targets[0]"


def case(number: int) -> pytest.MarkDecorator:
    return pytest.mark.case("operate", number)


def one(**parts: object) -> Document:
    return a_document(targets=[a_target(**parts)])


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({}, id="a tag is searched"),
        pytest.param({"mode": "ranking", "rankingDate": "TODAY", "startDate": "YESTERDAY"}, marks=case(17), id="words"),
        pytest.param({"tag": None, "userId": "11"}, id="an artist stands for a tag"),
        pytest.param({"mode": "ranking", "tag": "", "rankingMode": "week_r18g"}, id="a blank tag is none"),
        pytest.param({"mode": "ranking", "rankingMode": "day_manga"}, id="the ranking of manga"),
        pytest.param({"mode": "follow", "restrict": "all"}, id="what the account follows"),
        pytest.param({"mode": "bookmarks", "restrict": "private"}, id="what the account has marked"),
        pytest.param({"tag": None, "seriesId": 5}, id="a series of illustrations"),
        pytest.param({"mode": "topic", "topicProfile": {"primary": ["sky"]}}, id="a topic described by hand"),
        pytest.param({"limit": 1000}, id="a thousand works"),
        pytest.param({"startDate": "2025-01-01", "endDate": "TODAY"}, id="a day and a word wait for the run"),
        pytest.param({"startDate": "YESTERDAY", "endDate": "TODAY"}, id="two words in order"),
        pytest.param({"_why": 1, "topicDiscovery": {"_x": []}}, id="comments at any depth"),
        pytest.param({"limit": None, "r18": None}, id="null is left out"),
    ],
)
def test_these_are_fine(parts: Document) -> None:
    assert found(one(**parts)) == []


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param({"limit": 0}, ["E:TARGET_LIMIT_INVALID limit"], id="no work at all"),
        pytest.param({"limit": 1001}, ["W:TARGET_LIMIT_INVALID limit"], id="too many works are asked about only"),
        pytest.param({"limit": "10"}, ["E:TARGET_LIMIT_INVALID limit"], id="a number in quotes is text"),
        pytest.param({"limit": True}, ["E:TARGET_LIMIT_INVALID limit"], id="true is no number"),
        pytest.param({"limit": 2**60}, ["E:TARGET_LIMIT_INVALID limit"], id="a number that nobody can keep"),
        pytest.param({"tag": None}, ["E:TARGET_TAG_REQUIRED tag"], id="a search without anything to search"),
        pytest.param({"tag": 5}, ["E:TARGET_TAG_REQUIRED tag"], id="a wrong tag is not missing too"),
        pytest.param({"mode": "topic"}, ["E:TARGET_TOPIC_REQUIRED topic"], marks=case(16), id="a topic without one"),
        pytest.param({"mode": "series"}, ["E:TARGET_MODE_INVALID mode"], id="a series without its number"),
        pytest.param({"mode": "all"}, ["E:TARGET_MODE_INVALID mode"], id="a mode that is none"),
        pytest.param({"mode": "follow", "restrict": "friends"}, ["E:FIELD_INVALID restrict"], id="friends"),
        pytest.param({"restrict": "all"}, ["W:FIELD_IGNORED restrict"], id="a restriction that a search ignores"),
        pytest.param({"rankingMode": "yearly"}, ["E:TARGET_RANKING_MODE_INVALID rankingMode"], id="yearly"),
        pytest.param({"novelId": 5}, ["E:FIELD_INVALID novelId"], id="a novel among illustrations"),
        pytest.param({"illustId": -5}, ["E:FIELD_INVALID illustId"], id="a negative number of a work"),
        pytest.param({"userId": "me"}, ["E:FIELD_INVALID userId"], id="a name instead of a number"),
        pytest.param({"userId": 11}, ["E:FIELD_INVALID userId"], id="a number without quotes"),
        pytest.param({"maxPageCount": 0}, ["E:TARGET_MAX_PAGE_COUNT_INVALID maxPageCount"], id="zero is no cap"),
        pytest.param({"minBookmarks": -1}, ["E:FIELD_INVALID minBookmarks"], id="fewer marks than none"),
        pytest.param({"startDate": "2025-02-30"}, ["E:TARGET_START_DATE_INVALID startDate"], id="no such day"),
        pytest.param({"endDate": "20250201"}, ["E:TARGET_END_DATE_INVALID endDate"], id="a day without dashes"),
        pytest.param({"rankingDate": "NOW"}, ["E:TARGET_RANKING_DATE_INVALID rankingDate"], id="no such word"),
        pytest.param(
            {"startDate": "2025-02-01", "endDate": "2025-01-01"},
            ["E:TARGET_DATE_RANGE_INVALID startDate"],
            marks=case(18),
            id="an end before its start",
        ),
        pytest.param(
            {"startDate": "TODAY", "endDate": "YESTERDAY"}, ["E:TARGET_DATE_RANGE_INVALID startDate"], id="two words"
        ),
        pytest.param(
            {"topicDiscovery": {"maxTags": 41, "minScore": 1.5}},
            ["E:TOPIC_DISCOVERY_INVALID topicDiscovery.maxTags", "E:TOPIC_DISCOVERY_INVALID topicDiscovery.minScore"],
            marks=case(19),
            id="two numbers of one block, each named",
        ),
        pytest.param(
            {"languageCandidateLimit": 101, "noMatchPolicy": {"lookbackDays": 8}},
            [
                "E:TARGET_LANGUAGE_CANDIDATES_INVALID languageCandidateLimit",
                "E:TARGET_NO_MATCH_LOOKBACK_INVALID noMatchPolicy.lookbackDays",
            ],
            marks=case(20),
            id="too many languages' candidates, too many days back",
        ),
        pytest.param(
            {"topicProfile": {"primary": []}}, ["E:TOPIC_PROFILE_INVALID topicProfile.primary"], id="no primary tag"
        ),
        pytest.param({"candidateScanLimit": 500}, ["W:CANDIDATE_SCAN_LIMIT_INVALID candidateScanLimit"], id="a scan"),
        pytest.param({"tagRelation": "xor"}, ["E:TARGET_TAG_RELATION_INVALID tagRelation"], id="xor"),
        pytest.param({"searchTarget": "x"}, ["E:TARGET_SEARCH_TARGET_INVALID searchTarget"], id="search in x"),
        pytest.param({"excludeAI": "yes"}, ["E:TARGET_EXCLUDE_AI_INVALID excludeAI"], id="yes is not true"),
        pytest.param({"storageMode": "ram"}, ["E:TARGET_STORAGE_MODE_INVALID storageMode"], id="ram"),
        pytest.param({"excludeAi": True}, ["W:UNKNOWN_KEY excludeAi"], id="a key in other letters"),
        pytest.param({"delivery": {"slotContext": {}}}, ["W:UNKNOWN_KEY delivery.slotContext"], id="a run-time key"),
        pytest.param({"delivery": 5}, ["E:FIELD_INVALID delivery"], id="a number where an object stands"),
    ],
)
def test_these_are_named_with_their_place(parts: Document, expected: list[str]) -> None:
    full = [f"{code} {AT}.{field}" for code, field in (each.split() for each in expected)]
    assert found(one(**parts)) == full


@case(11)
def test_the_second_of_two_targets_with_one_id_is_named() -> None:
    document = a_document(targets=[a_target(id="a"), a_target(id="a"), a_target(id=None), a_target(id=None)])
    assert found(document) == ["E:TARGET_ID_INVALID targets[1].id"]


@case(12)
def test_every_wrong_id_is_reported_in_one_go() -> None:
    document = a_document(targets=[a_target(id="-x"), a_target(id="a" * 65), a_target(id="a" * 64), a_target(id="é")])
    assert found(document) == [f"E:TARGET_ID_INVALID targets[{n}].id" for n in (0, 1, 3)]


@case(13)
def test_a_wrong_type_and_a_missing_one_are_told_apart() -> None:
    document = a_document(targets=[a_target(type="manga"), a_target(id="b", type=None)])
    assert found(document) == ["E:TARGET_TYPE_INVALID targets[0].type", "E:TARGET_TYPE_REQUIRED targets[1].type"]


@case(14)
def test_a_limit_of_zero_stops_the_start_and_a_very_high_one_does_not() -> None:
    assert found(one(limit=0)) == [f"E:TARGET_LIMIT_INVALID {AT}.limit"]
    high = validate(one(limit=1001))
    assert (len(high.report.warnings), high.report.errors) == (1, ())
    assert high.used["targets"] == [a_target(limit=1001)]


@case(15)
def test_a_search_needs_a_tag_or_somebody_whose_works_to_list() -> None:
    assert found(one(tag=None, mode="search")) == [f"E:TARGET_TAG_REQUIRED {AT}.tag"]
    assert found(one(tag=None, mode="search", userId="11")) == []


@case(81)
def test_the_modes_of_an_account_and_of_a_series() -> None:
    assert found(one(mode="follow", restrict="all")) == []
    assert found(one(mode="series")) == [f"E:TARGET_MODE_INVALID {AT}.mode"]
    assert found(one(seriesId=7)) == []
    assert found(one(mode="follow", restrict="friends")) == [f"E:FIELD_INVALID {AT}.restrict"]


@case(86)
def test_every_ranking_of_pixiv_is_known_and_no_other() -> None:
    assert found(one(mode="ranking", rankingMode="week_r18g")) == []
    assert found(one(mode="ranking", rankingMode="day_manga")) == []
    assert found(one(mode="ranking", rankingMode="yearly")) == [f"E:TARGET_RANKING_MODE_INVALID {AT}.rankingMode"]


@case(10)
def test_targets_must_be_written_down_but_there_may_be_none() -> None:
    assert found({"schemaVersion": 1}) == ["E:TARGETS_REQUIRED targets"]
    assert found({"targets": {}}) == ["E:TARGETS_REQUIRED targets"]
    assert found({"targets": []}) == []


@case(22)
def test_files_that_are_only_cached_need_a_route_that_exists() -> None:
    assert found(with_routes(a_target(storageMode="cache"))) == [f"E:DELIVERY_TARGET_REQUIRED {AT}.delivery.target"]
    unknown = a_target(storageMode="cache", delivery={"target": "nope"})
    assert found(with_routes(unknown, bot=a_webhook())) == [f"E:DELIVERY_TARGET_UNKNOWN {AT}.delivery.target"]
    listed = a_target(storageMode="cache", delivery={"targets": ["bot", "nope"], "target": "bot"})
    assert found(with_routes(listed, bot=a_webhook())) == [f"E:DELIVERY_TARGET_UNKNOWN {AT}.delivery.targets[1]"]
    known = a_target(storageMode="cache", delivery={"target": "bot"})
    assert found(with_routes(known, bot=a_webhook())) == []


@case(23)
def test_an_empty_list_of_routes_is_not_read_as_no_list() -> None:
    target = a_target(storageMode="cache", delivery={"targets": []})
    assert found(with_routes(target, bot=a_webhook())) == [f"E:DELIVERY_TARGETS_INVALID {AT}.delivery.targets"]


@case(21)
def test_notices_of_an_empty_day_need_a_first_route_that_takes_notices() -> None:
    target = a_target(delivery={"targets": ["hook", "bot"]}, noMatchPolicy={"notify": True})
    bot = a_multipart(notificationUrl="http://publisher.example.test/notices")
    missing = [f"E:TARGET_NO_MATCH_NOTIFICATION_MISSING {AT}.noMatchPolicy.notify"]
    assert found(with_routes(target, hook=a_webhook(), bot=bot)) == missing
    assert found(with_routes(target, hook=a_multipart(), bot=bot)) == missing
    assert found(with_routes(target, hook=bot, bot=bot)) == []
