"""Whatever is asked, there is an answer that can be sent: a fake that dies of a question proves nothing."""

from typing import Any
from urllib.parse import quote, urlencode

import h11
import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pixivflow.sandbox import api, control, sink
from pixivflow.sandbox.hosts import REAL
from tests.fixtures.sandboxes import Asker

ASK = Asker()
"""One sandbox for all examples, so that what one of them leaves behind meets the next."""
PATHS = [
    *(f"/app{path}" for path in api.ROUTES),
    *(f"/_ctl{path}" for _, path in control.ROUTES if path not in ("/clock", "/gate")),
    *(f"/sink/{path}" for path in [*sink.READERS, "ready", "receipts"]),
    "/app/web/v1/login",
    "/app/web/v1/users/auth/pixiv/callback",
    "/oauth/auth/token",
    "/web/ajax/illust/100001",
    "/img/img-original/img/2026/01/14/00/00/00/100001_p0.jpg",
    "/img/img-zip-ugoira/img/2026/101201_ugoira600x600.zip",
    "/static/x",
]
NAMES = [
    "illust_id",
    "word",
    "sort",
    "search_target",
    "filter",
    "start_date",
    "end_date",
    "offset",
    "mode",
    "date",
    "user_id",
    "type",
    "restrict",
    "tag",
]
MORE = [
    "max_bookmark_id",
    "illust_series_id",
    "code",
    "code_challenge",
    "code_challenge_method",
    "kind",
    "key",
    "since",
    "route",
]
VALUES = [
    "",
    "1",
    "100001",
    "101301",
    "101331",
    "-1",
    "9" * 40,
    "猫",
    "dup",
    "day",
    "2026-01-14",
    "9999-12-31",
    "public",
]
WORDS = st.one_of(
    st.sampled_from([*VALUES, "0001-01-01", "for_ios", "9000001", "S256", "310003"]), st.text(max_size=20)
)
LATIN = st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
PATH = st.one_of(st.sampled_from(PATHS), st.text(max_size=40).map(lambda text: f"/{quote(text)}"))
QUERY = st.dictionaries(st.sampled_from([*NAMES, *MORE]), WORDS, max_size=5)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "host": st.one_of(st.sampled_from([*REAL, "x.pixiv.net", "[::1]:80", ":"]), LATIN),
        "authorization": st.one_of(st.sampled_from(["Bearer at-000001", "Bearer", "Bearer "]), LATIN),
        "referer": st.sampled_from(["https://www.pixiv.net/", ""]),
        "range": st.one_of(st.sampled_from(["bytes=0-", "bytes=-", "bytes=5-2", f"bytes={'9' * 18}-"]), LATIN),
        "if-range": LATIN,
        "content-type": st.sampled_from(
            ["multipart/form-data; boundary=b", "application/x-www-form-urlencoded", "application/json"]
        ),
        "content-length": st.just("5"),
        "x-idempotency-key": LATIN,
        "x-client-time": st.one_of(LATIN, st.just("9999-12-31T23:59:59+00:00")),
        "x-webhook-timestamp": LATIN,
    },
)
BODY = st.one_of(
    st.binary(max_size=60),
    JSON.map(msgspec.json.encode),
    st.dictionaries(st.sampled_from(["client_id", "grant_type", "code"]), WORDS).map(lambda d: urlencode(d).encode()),
    st.sampled_from(
        [b"--b--", b"--b\r\n\r\n\r\n--b--", b'--b\r\nContent-Disposition: form-data; name="f"\r\n\r\n\r\n--b--']
    ),
)


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "WEIRD"]),
    PATH,
    QUERY,
    HEADERS,
    BODY,
    st.fixed_dictionaries(
        {}, optional={"tls": st.booleans(), "is_whole": st.booleans(), "is_oversized": st.booleans()}
    ),
)
def test_every_request_has_an_answer_that_can_be_sent(
    method: str, path: str, query: dict[str, str], headers: dict[str, str], body: bytes, facts: dict[str, bool]
) -> None:
    assert ASK.bearer
    exchange = ASK.exchange(method, f"{path}?{urlencode(query)}", body, headers, **facts)
    assert 200 <= exchange.reply.status < 600
    assert sendable(exchange.reply.headers)


def sendable(headers: Any) -> bool:
    """Whether h11 takes the headers."""
    h11.Response(status_code=200, headers=[(name, value.encode("latin-1")) for name, value in headers])
    return True
