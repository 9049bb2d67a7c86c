"""What a file is known by again, and which partial answers belong to the bytes that are here."""

import pytest

from pixivflow.download.versions import Version, length_with, version_of

TAG, DATE = '"abc"', "Thu, 15 Jan 2026 03:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "version"),
    [
        pytest.param({"etag": TAG, "content-length": "9"}, Version(validator=TAG, length=9), id="a tag"),
        pytest.param({"etag": TAG}, Version(validator=TAG), id="a tag alone"),
        pytest.param({"etag": TAG, "last-modified": DATE}, Version(validator=TAG), id="a tag goes before a date"),
        pytest.param(
            {"etag": f"W/{TAG}", "last-modified": DATE, "content-length": "9"},
            Version(validator=DATE, length=9),
            id="a weak tag says nothing",
        ),
        pytest.param({"last-modified": DATE}, Version(), id="a date without a length says nothing"),
        pytest.param({"etag": '"é"', "content-length": "x"}, Version(), id="what cannot stand in a header"),
        pytest.param({}, Version(), id="nothing"),
    ],
)
def test_a_file_is_known_by_its_tag_or_by_its_date_and_length(headers: dict[str, str], version: Version) -> None:
    assert version_of(headers) == version


KNOWN, DATED = Version(validator=TAG, length=40), Version(validator=DATE, length=40)


@pytest.mark.parametrize(
    ("version", "headers", "length"),
    [
        pytest.param(KNOWN, {"content-range": "bytes 10-39/40"}, 40, id="the rest"),
        pytest.param(KNOWN, {"content-range": "bytes 10-39/*"}, 40, id="the rest of who knows what"),
        pytest.param(Version(validator=TAG), {"content-range": "bytes 10-59/60"}, 60, id="the rest, now known"),
        pytest.param(KNOWN, {"content-range": "bytes 9-39/40"}, None, id="too early"),
        pytest.param(KNOWN, {"content-range": "bytes 11-39/40"}, None, id="too late"),
        pytest.param(KNOWN, {"content-range": "bytes 10-38/40"}, None, id="not to the end"),
        pytest.param(KNOWN, {"content-range": "bytes 10-40/41"}, None, id="of a longer file"),
        pytest.param(KNOWN, {"content-range": "bytes 10-39/40", "etag": '"x"'}, None, id="of another file"),
        pytest.param(KNOWN, {"content-range": "bytes 10-39/40", "last-modified": "x"}, 40, id="a tag outweighs a date"),
        pytest.param(DATED, {"content-range": "bytes 10-39/40", "last-modified": DATE}, 40, id="of that date"),
        pytest.param(DATED, {"content-range": "bytes 10-39/40", "last-modified": "x"}, None, id="of another date"),
        pytest.param(KNOWN, {"content-range": "items 10-39/40"}, None, id="no bytes"),
        pytest.param(KNOWN, {}, None, id="no range"),
    ],
)
def test_only_the_bytes_that_follow_in_the_same_file_are_appended(
    version: Version, headers: dict[str, str], length: int | None
) -> None:
    assert length_with(headers, 10, version) == length
