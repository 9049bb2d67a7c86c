"""Every answer shape of the sink, as the two parsers of answers understand it."""

from collections.abc import Callable

import pytest

from pixivflow.config.model import AckFields
from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    IdempotentReplay,
    PermanentFailure,
    RemoteFailed,
    RetryableFailure,
)
from pixivflow.providers.exchange import Answer
from pixivflow.providers.hearing import Said, heard
from pixivflow.providers.multipart_ack import multipart_ack
from pixivflow.providers.webhook_ack import webhook_ack
from pixivflow.sandbox.message import Reply
from pixivflow.sandbox.shapes import SHAPES, SOMEBODY
from tests.edges.sandbox.test_sink import hook, post, submission
from tests.fixtures.sandboxes import Asker

Meant = type[Ack] | tuple[type[Ack], str | None]
"""A kind of acknowledgement; for one that names a key, which."""

WEBHOOK: dict[str, list[Meant]] = {
    "default": [Accepted, (DuplicateExisting, None)],
    "queued": [RetryableFailure, RetryableFailure, RetryableFailure, Accepted],
    "weird": [RetryableFailure],
    "failed_200": [RemoteFailed],
    "duplicate": [(DuplicateExisting, None)],
    "duplicate_other": [(DuplicateExisting, SOMEBODY)],
    "conflict": [(DuplicateExisting, None)],
    "empty": [Accepted],
}
SUBMISSIONS: dict[str, list[Meant]] = {
    "default": [Accepted, IdempotentReplay],
    "weird": [Accepted],
    "failed_200": [RemoteFailed],
    "duplicate": [(DuplicateExisting, None)],
    "duplicate_other": [(DuplicateExisting, SOMEBODY)],
    "conflict": [PermanentFailure],
    "empty": [Accepted],
    "fallback": [Accepted],
}


def understood(reply: Reply, parse: Callable[[Said], Ack]) -> Meant:
    headers = {name.lower(): value for name, value in reply.headers}
    ack = parse(heard(Answer(status=reply.status, headers=headers, body=reply.body)))
    return (DuplicateExisting, ack.matched_key) if isinstance(ack, DuplicateExisting) else type(ack)


@pytest.mark.case("sandbox", 22)
@pytest.mark.parametrize(("shape", "meant"), WEBHOOK.items())
def test_a_webhook_answer_means_what_its_shape_is_for(ask: Asker, shape: str, meant: list[Meant]) -> None:
    ask.tell("/options", {"sink": {"webhook": shape}})
    assert [understood(post(ask, hook()), lambda said: webhook_ack(said, 0)) for _ in meant] == meant


@pytest.mark.case("sandbox", 22)
@pytest.mark.parametrize(("shape", "meant"), SUBMISSIONS.items())
def test_a_submission_answer_means_what_its_shape_is_for(ask: Asker, shape: str, meant: list[Meant]) -> None:
    ask.tell("/options", {"sink": {"submissions": shape}})
    replies = [post(ask, submission()) for _ in meant]
    assert [understood(reply, lambda said: multipart_ack(said, AckFields(), 0)) for reply in replies] == meant


def test_no_shape_is_without_a_meaning() -> None:
    assert SHAPES["webhook"].keys() == WEBHOOK.keys()
    assert SHAPES["submissions"].keys() == SUBMISSIONS.keys()
