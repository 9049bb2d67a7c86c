"""Templates: every name says something, no unknown one is sent, and what a value holds is data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixivflow.config.validate.words import unknown_names
from pixivflow.delivery.payload import Context
from pixivflow.delivery.templates import canonical_uuid, compact, filled, values_of

CONTEXT = Context(
    title="Sea",
    series_title="Waters",
    pixiv_id="71",
    type="novel",
    target_id="art",
    tag="sea",
    topic="water",
    work_tags=("sea", "blue"),
    author="Kai",
    spoiler=True,
    x_restrict=1,
    ranking_date="2026-01-14",
    published_at="2026-01-15T03:00:00+00:00",
    language="Japanese",
    bookmark_count=12_345,
    view_count=999,
    schedule_id="daily",
    execution_id="run-1",
    occurrence_at="2026-01-15T00:00:00.000Z",
    trigger_source="http",
    slot_id="daily@2026-01-15T0800",
    slot_name="daily",
    slot_date="2026-01-15",
    idempotency_key="pixivflow:a:novel:71:s:t",
    refetch_request_id="URN:UUID:123E4567E89B12D3A456426614174000",
)


def test_every_name_is_filled_from_the_frozen_context() -> None:
    assert values_of(CONTEXT) == {
        "title": "Sea",
        "displayTitle": "《Waters》 Sea",
        "seriesTitle": "Waters",
        "pixivId": "71",
        "workId": "71",
        "type": "novel",
        "targetId": "art",
        "tag": "sea",
        "topic": "water",
        "topicTag": "water",
        "workTags": "sea,blue",
        "author": "Kai",
        "link": "https://www.pixiv.net/novel/show.php?id=71",
        "spoiler": "true",
        "xRestrict": "1",
        "xRestrictLabel": "R-18",
        "xRestrictTag": "R18",
        "rankingDate": "2026-01-14",
        "publishedDate": "2026-01-15",
        "language": "Japanese",
        "bookmarkCount": "1.2w",
        "viewCount": "999",
        "scheduleId": "daily",
        "executionId": "run-1",
        "occurrenceAt": "2026-01-15T00:00:00.000Z",
        "triggerSource": "http",
        "slotId": "daily@2026-01-15T0800",
        "slotName": "daily",
        "slotDate": "2026-01-15",
        "idempotencyKey": "pixivflow:a:novel:71:s:t",
        "refetchRequestId": "123e4567-e89b-12d3-a456-426614174000",
    }


def test_what_nobody_knows_is_empty_text() -> None:
    known = {"type", "link", "spoiler", "xRestrictLabel"}
    assert {name for name, value in values_of(Context()).items() if value} == known


@pytest.mark.case("delivery", 67)
@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{title}}", "Sea"),
        ("{{ title }} by {{author}}!", "Sea by Kai!"),
        ("{{unknown}}", ""),
        ("<{{}}>", "<>"),
        ("{{rankingDate}}", ""),
        ("{title} {{title", "{title} {{title"),
        ("{{{title}}}", "{Sea}"),
        ("{{{{title}}}}", "{{Sea}}"),
    ],
)
def test_a_known_name_is_filled_and_no_unknown_one_reaches_the_wire(template: str, expected: str) -> None:
    assert filled(template, values_of(Context(title="Sea", author="Kai"))) == expected


@pytest.mark.case("delivery", 67)
def test_the_validator_warns_of_an_unknown_name_and_not_of_one_without_a_value() -> None:
    assert list(unknown_names("{{unknown}} {{rankingDate}}")) == ["unknown"]


def test_braces_inside_a_value_stay_and_are_not_filled_again() -> None:
    values = values_of(Context(title="{{author}} \\1 \\g<0>", author="Kai"))
    assert filled("{{title}}", values) == "{{author}} \\1 \\g<0>"


def test_without_a_topic_the_tag_stands_for_it() -> None:
    assert values_of(Context(tag="sea"))["topicTag"] == "sea"


@pytest.mark.parametrize(("kind", "series"), [("illustration", "Waters"), ("novel", "")])
def test_only_a_novel_of_a_series_is_shown_with_it(kind: str, series: str) -> None:
    assert values_of(Context(title="Sea", type=kind, series_title=series))["displayTitle"] == "Sea"


@pytest.mark.parametrize(
    ("x_restrict", "raw", "label", "tag"),
    [
        (None, "", "unknown", ""),
        (0, "0", "all-ages", "AllAges"),
        (1, "1", "R-18", "R18"),
        (2, "2", "R-18G", "R18G"),
        (7, "7", "unknown(7)", "XRestrict7"),
    ],
)
def test_a_restriction_has_a_number_a_label_and_a_tag(x_restrict: int | None, raw: str, label: str, tag: str) -> None:
    values = values_of(Context(x_restrict=x_restrict))
    assert (values["xRestrict"], values["xRestrictLabel"], values["xRestrictTag"]) == (raw, label, tag)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (None, ""),
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (1_234, "1.2k"),
        (9_999, "10k"),
        (10_000, "1w"),
        (35_000, "3.5w"),
        (1_234_567, "123.5w"),
    ],
)
def test_a_count_is_written_short(count: int | None, expected: str) -> None:
    assert compact(count) == expected


UUID = "123e4567-e89b-12d3-a456-426614174000"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (UUID, UUID),
        (UUID.replace("-", ""), UUID),
        (UUID.upper(), UUID),
        ("{" + UUID + "}", UUID),
        ("urn:uuid:" + UUID, UUID),
        ("  " + UUID + "\n", UUID),
        (UUID[:-1], ""),
        (UUID + "0", ""),
        (UUID.replace("1", "g", 1), ""),
        ("٣" * 32, ""),
        ("", ""),
        ("adhoc", ""),
    ],
)
def test_a_request_id_is_told_in_the_one_form_that_every_receiver_knows(given: str, expected: str) -> None:
    assert canonical_uuid(given) == expected


@given(st.text(alphabet="{} ab", max_size=30), st.text(max_size=10))
def test_filling_never_fails_and_leaves_no_placeholder_of_the_template(template: str, value: str) -> None:
    empty = filled(template, {})
    assert len(empty) <= len(template)
    assert filled(template, {"a": value}).count(value) >= template.count("{{a}}")
