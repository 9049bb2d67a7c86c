"""Bodies that come in."""

import pytest

from pixivflow.control.ports import Failed
from pixivflow.control.wire import RunBody, decode


@pytest.mark.parametrize(
    ("body", "label"),
    [
        (b"", None),
        (b"  \r\n", None),
        (b"{}", None),
        (b'{"label": "Morning"}', "Morning"),
        (b'{"date": "2020-01-01", "slotId": "p@2020-01-01T0000", "label": "x"}', "x"),
        (b'{"label": 5}', 5),
        (b'{"label": null}', None),
    ],
)
def test_a_trigger_may_say_a_name_and_whatever_else_it_says_is_let_pass(body: bytes, label: object) -> None:
    assert decode(body, RunBody).label == label


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"\xff\xfe",
        b'{"label": "\xff"}',
        b"[" * 100_000,
        b'{"x":' * 20_000,
        b'{"x": ' + b"[" * 100_000,
        b"{} {}",
        b"label=x",
    ],
    ids=range(11),
)
def test_whatever_cannot_be_read_is_one_error(body: bytes) -> None:
    with pytest.raises(Failed) as failed:
        decode(body, RunBody)
    assert failed.value.http_status == 400
