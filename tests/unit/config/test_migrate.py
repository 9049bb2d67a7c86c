"""Files of older and newer versions."""

import pytest

from pixivflow.config.migrate import migrated
from pixivflow.config.validate import Report
from tests.fixtures.documents import said


def test_a_file_without_version_is_brought_up_to_date_and_loses_nothing() -> None:
    before: dict[str, object] = {"foo": {"bar": 1}, "targets": []}
    document, findings = migrated(before)
    assert (document, findings) == ({"foo": {"bar": 1}, "targets": [], "schemaVersion": 1}, [])
    assert "schemaVersion" not in before


def test_a_newer_file_is_refused_with_both_versions() -> None:
    _, findings = migrated({"schemaVersion": 99})
    assert said(Report(findings=tuple(findings))) == ["E:SCHEMA_VERSION_UNSUPPORTED schemaVersion"]
    assert "99" in findings[0].message
    assert "1" in findings[0].message


@pytest.mark.parametrize("version", [-1, 1.5, "1", True, [], None])
def test_a_version_that_is_none_is_refused(version: object) -> None:
    _, findings = migrated({"schemaVersion": version})
    assert said(Report(findings=tuple(findings))) == ["E:SCHEMA_VERSION_INVALID schemaVersion"]
