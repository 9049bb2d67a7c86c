"""From a file to a plain document."""

import re
from pathlib import Path

import pytest

from pixivflow.config.load import ConfigUnreadable
from pixivflow.config.load.document import BYTES, Doubled, parse, read_document
from pixivflow.config.load.strays import strays
from pixivflow.config.validate import Report
from tests.fixtures.documents import said

JSON, TOML = Path("config.json"), Path("config.toml")


@pytest.mark.parametrize(
    ("path", "text", "position", "reason"),
    [
        pytest.param(JSON, '{"a": 1,}', "line 1 column ", "comma|property name", id="a trailing comma"),
        pytest.param(JSON, '{\n"a": tru}', "line 2 column 6", "Expecting value", id="a misspelt word"),
        pytest.param(JSON, "", "line 1 column 1", "Expecting value", id="nothing at all"),
        pytest.param(JSON, "[]", "line 1 column 1", "one object", id="a list"),
        pytest.param(JSON, '{"a": "b\n"}', "line 1 column 9", "control character", id="a text of two lines"),
        pytest.param(JSON, "[" * 100_000, "line 1 column 65", "too deeply", id="a pit of lists"),
        pytest.param(JSON, '{"a":' * 100_000, "line 1 column 321", "too deeply", id="a pit of objects"),
        pytest.param(JSON, '{"[[": ' + "[" * 70 + "]" * 70 + "}", "line 1 column 71", "too deeply", id="a small pit"),
        pytest.param(TOML, "a = 1\na = 2\n", "", "at line 2", id="a key of TOML twice"),
        pytest.param(TOML, "a = " + "[" * 100_000, "line 1 column 69", "too deeply", id="a pit of TOML"),
        pytest.param(TOML, "a" + ".a" * 100_000 + " = 1", "line 1 column 514", "too deeply", id="a key without end"),
        pytest.param(TOML, "\n" + "a." * 100 + "a = 1", "", "too deeply", id="a long key"),
    ],
)
def test_what_is_no_document_is_told_by_file_and_position(path: Path, text: str, position: str, reason: str) -> None:
    with pytest.raises(ConfigUnreadable) as caught:
        parse(path, text)
    assert str(caught.value).startswith(f"{path}: {position}")
    assert re.search(reason, str(caught.value))
    assert "\n" not in str(caught.value)


def test_a_deep_document_within_reason_is_read() -> None:
    text = '{"a":' * 60 + "1" + "}" * 60
    assert str(parse(JSON, text)).count("a") == 60


def test_toml_holds_the_same_keys() -> None:
    text = '[[targets]]\ntype = "novel"\nstartDate = 2025-01-31\n[schedulerRuntime.trigger]\nport = 8_090\n'
    assert parse(TOML, text) == {
        "targets": [{"type": "novel", "startDate": "2025-01-31"}],
        "schedulerRuntime": {"trigger": {"port": 8090}},
    }


def test_an_editor_s_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": "\xe7\xb5\xb5"}')
    assert read_document(path) == {"a": "絵"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(None, "No such file", id="no file"),
        pytest.param(b'{"a": "\xff"}', "byte 7: it is not UTF-8", id="another encoding"),
        pytest.param(b" " * (BYTES + 1), "no configuration", id="far too large"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "c.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigUnreadable, match=reason) as caught:
        read_document(path)
    assert str(path) in str(caught.value)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigUnreadable, match="directory"):
        read_document(tmp_path)


def test_keys_that_stand_twice_are_named_each_by_its_place() -> None:
    document = parse(JSON, '{"a": {"b": 1, "b": 2, "c": 3}, "d": [{"e": 1, "e": 1}], "a": {"b": 1, "b": 2}}')
    assert isinstance(document, Doubled)
    assert said(Report(findings=tuple(strays(document)))) == [
        "E:DUPLICATE_KEY a",
        "E:DUPLICATE_KEY a.b",
        "E:DUPLICATE_KEY d[0].e",
    ]


def test_half_a_character_is_named_before_it_reaches_a_log_or_a_row() -> None:
    document = parse(JSON, r'{"a": ["\ud800"], "\udc00": 1, "b": "\ud83d\ude00"}')
    assert said(Report(findings=tuple(strays(document)))) == [
        "E:TEXT_INVALID a[0]",
        'E:TEXT_INVALID ["\\udc00"]',
    ]


def test_a_number_without_end_reaches_the_validator_which_knows_the_field() -> None:
    assert parse(JSON, '{"a": ' + "9" * 10_000 + "}") == {"a": float("inf")}


@pytest.mark.parametrize("text", ['{"a":' * 200_000, "[" * 2_000_000, '"' * 2_000_000, "{" * 10 + '"a' * 500_000])
def test_junk_of_megabytes_is_refused_without_recursion(text: str) -> None:
    with pytest.raises(ConfigUnreadable):
        parse(JSON, text)
