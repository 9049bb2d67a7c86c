"""What a gateway's answer means: its word first, then its status. It shares no word with the other parser.

failed, rejected, invalid, expired, blocked            the gateway's record ended badly, whatever the status
409, duplicate, duplicate_existing, already_exists,
replayed                                               it has the work
pending, queued, accepted_pending, submitted,
processing                                             no verdict yet
429, 500 and more                                      later
300 to 499                                             never so
any other word than a good one, and JSON that nobody
can read                                               no verdict yet: an unknown answer is no success
accepted, ok, success, published, sent, delivered,
no word at all                                         accepted
"""

from typing import Final

from pixivflow.config.texts import shortened
from pixivflow.delivery.ack import CONFLICT
from pixivflow.delivery.model import Accepted, Ack, DuplicateExisting, PermanentFailure, RemoteFailed, RetryableFailure
from pixivflow.providers.evidence import audited, retry_after_ms, text_of, word_of
from pixivflow.providers.hearing import Said, unclear

ENDED_BADLY: Final = frozenset({"failed", "rejected", "invalid", "expired", "blocked"})
HAS_IT: Final = frozenset({"duplicate", "duplicate_existing", "already_exists", "replayed"})
UNDECIDED: Final = frozenset({"pending", "queued", "accepted_pending", "submitted", "processing"})
GOOD: Final = frozenset({"accepted", "ok", "success", "published", "sent", "delivered"})

RAW_CHARS: Final = 500
TOO_MANY: Final = 429


def webhook_ack(said: Said, now: int) -> Ack:
    """The answer of a gateway, in our words. `now`: for a wish that names a date."""
    status, body = said.status, said.told
    if said.is_unclear and (status < 300 or status == CONFLICT):
        return unclear(said)
    told = body if isinstance(body, dict) else {}
    word = word_of(told.get("status"))
    remote_id = text_of(told.get("id")) or text_of(told.get("message_id"))
    why = _why(said, told, word)
    later = RetryableFailure(error=why, retry_after_ms=retry_after_ms(said, now), http_status=status)
    if word in ENDED_BADLY:
        return RemoteFailed(remote_status=word, error=why, remote_id=remote_id, http_status=status)
    if status == CONFLICT or word in HAS_IT:
        return DuplicateExisting(
            remote_id=remote_id,
            remote_status=word or None,
            matched_key=text_of(told.get("matched_idempotency_key")),
            raw=audited(body),
            http_status=status,
        )
    if word in UNDECIDED or status == TOO_MANY or status >= 500:
        return later
    if status >= 300:
        return PermanentFailure(error=why, http_status=status, provider="webhook")
    if word and word not in GOOD:
        return later
    return Accepted(remote_id=remote_id, remote_status=word or None, raw=audited(body), http_status=status)


def _why(said: Said, told: dict[str, object], word: str) -> str:
    """The status, the word and the gateway's reason; the beginning of the body where there is nothing better."""
    reason = next((text for name in ("reason", "error", "message") if (text := text_of(told.get(name)))), None)
    detail = reason or ("" if told else shortened(said.text, RAW_CHARS).strip())
    answered = " ".join(("answered HTTP", str(said.status), *([word] if word else ())))
    return f"{answered}: {detail}" if detail else answered
