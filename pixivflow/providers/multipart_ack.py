"""What the answer to a submission means. The receiver's own record of the work outranks the status of its answer.

429, 408, 500 and more                              later
JSON that nobody can read                           no verdict yet
anything else that is not 200 to 299                never so
no JSON, or no record in it                         accepted
the record is failed, rejected, invalid, expired    it ended badly, also where it was reused
not reused                                          accepted
reused, as an existing or historical duplicate      it has the work from somebody else, or from us
reused otherwise                                    our own earlier attempt
"""

from typing import Final

from pixivflow.config.model import AckFields
from pixivflow.config.texts import shortened
from pixivflow.delivery.ack import CONFLICT
from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    IdempotentReplay,
    PermanentFailure,
    RemoteFailed,
    RetryableFailure,
)
from pixivflow.providers.evidence import SHOWN_CHARS, audited, retry_after_ms, text_of, word_of
from pixivflow.providers.hearing import Said, unclear

ENDED_BADLY: Final = frozenset({"failed", "rejected", "invalid", "expired"})
SOMEBODY_ELSES: Final = frozenset({"duplicate_existing", "historical", "historical_duplicate"})
LATER: Final = frozenset({408, 429})


def multipart_ack(said: Said, names: AckFields, now: int) -> Ack:
    """The answer of a receiver of submissions, in our words. `names`: where it says what."""
    status, body = said.status, said.told
    if status in LATER or status >= 500:
        return RetryableFailure(error=_quoted(said), retry_after_ms=retry_after_ms(said, now), http_status=status)
    if said.is_unclear and (200 <= status <= 299 or status == CONFLICT):
        return unclear(said)
    record = _record(body, names.data_path)
    if not 200 <= status <= 299:
        key = _key(record or body, names)
        return PermanentFailure(error=_quoted(said), http_status=status, matched_key=key, provider="httpMultipart")
    if record is None:
        return Accepted(http_status=status)
    return _of_record(record, body, names, status)


def _of_record(record: dict[str, object], body: object, names: AckFields, status: int) -> Ack:
    state, raw = word_of(record.get(names.status_field)), audited(body)
    reason = word_of(record.get(names.reason_field)) or word_of(record.get("reuse_kind"))
    remote_id, remote_status = _remote_id(record, names), state or None
    if state in ENDED_BADLY:
        error = f"the receiver's record is {state}" + (f": {reason}" if reason else "")
        return RemoteFailed(remote_status=state, error=error, remote_id=remote_id, http_status=status)
    if record.get(names.reused_field) is not True:
        return Accepted(remote_id=remote_id, remote_status=remote_status, raw=raw, http_status=status)
    if reason in SOMEBODY_ELSES:
        key = _key(record, names)
        return DuplicateExisting(
            remote_id=remote_id, remote_status=remote_status, matched_key=key, raw=raw, http_status=status
        )
    return IdempotentReplay(remote_id=remote_id, remote_status=remote_status, raw=raw, http_status=status)


def _record(body: object, data_path: str) -> dict[str, object] | None:
    for step in filter(None, data_path.split(".")):
        body = body.get(step) if isinstance(body, dict) else None
    return body if isinstance(body, dict) else None


def _remote_id(record: dict[str, object], names: AckFields) -> str | None:
    for name in (names.id_field, "message_id"):
        value = record.get(name)
        numbered = isinstance(value, int | float) and not isinstance(value, bool)
        if found := text_of(str(value) if numbered else value):
            return found
    return None


def _key(record: object, names: AckFields) -> str | None:
    return text_of(record.get(names.key_field)) if isinstance(record, dict) else None


def _quoted(said: Said) -> str:
    answered = f"answered HTTP {said.status}"
    quote = shortened(said.text, SHOWN_CHARS).strip()
    return f"{answered}: {quote}" if quote else answered
