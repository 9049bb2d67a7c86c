"""What a valid configuration asks for in vain: said before the first run, since nothing would come of it in silence.

`UNSERVED` has a row for every key that is accepted and that nothing in this program reads. Whoever makes a key work
takes its row away; a test finds both a key without a reader and a row, and a row whose key is read.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from pixivflow.config.load import MANUAL_TOKEN, Loaded
from pixivflow.config.model import Settings
from pixivflow.config.model.targets import named_routes
from pixivflow.config.validate import Finding, Level
from pixivflow.config.validate.shape import Place, field
from pixivflow.delivery.model import MAX_ATTEMPTS
from pixivflow.selection.target import unserved

Asked = Callable[[object], bool]


def written(value: object) -> bool:
    """Anything at all; an empty object or list asks for nothing."""
    return value not in ({}, [])


def on(value: object) -> bool:
    """A switch that is on."""
    return value is True


def other_than(*values: object) -> Asked:
    """Whatever is not what happens anyway."""
    return lambda value: written(value) and value not in values


def enabled(value: object) -> bool:
    """An object that does not switch itself off."""
    return written(value) and not (isinstance(value, Mapping) and value.get("enabled") is False)


class Row(msgspec.Struct, frozen=True):
    """A key that nothing reads, with everything below it.

    `key`: `[]` stands for each place of a list, `{word}` for each route of that type. `asked`: whether a value of it
    asks for anything; a key that the file leaves out never does.
    """

    key: str
    asked: Asked
    hint: str


_NOVELS: Final = "novels are not fetched by this version"
_LANGUAGES: Final = "languages are told of novels only, and novels are not fetched by this version"
_TOPICS: Final = "topics are not searched by this version"
_NOTICES: Final = "this version sends no notices"
_KEPT: Final = "this version removes no file after its delivery, nor by its age or size"
_RETRIED: Final = f"every delivery gets {MAX_ATTEMPTS} attempts"
_WEBHOOK: Final = "delivery.targets{webhook}"
_MULTIPART: Final = "delivery.targets{httpMultipart}"

UNSERVED: Final = (
    Row("initialDelay", other_than(0), "nothing is delayed by this version"),
    Row("pixiv.deviceToken", other_than("pixiv"), "is sent to nobody"),
    Row("storage.novelDirectory", written, _NOVELS),
    Row("storage.novelOrganization", written, _NOVELS),
    Row("storage.cacheRetentionDays", other_than(0), _KEPT),
    Row("storage.cacheMaxSizeMB", other_than(0), _KEPT),
    Row(
        "download.dynamicConcurrency", on, "the concurrency stays as it is; a limit of Pixiv's slows all requests down"
    ),
    Row("download.minConcurrency", written, "the concurrency is never lowered by this version"),
    Row("download.materializationPolicy", other_than("eager"), "every work is fetched at once"),
    Row("download.novelCover", written, _NOVELS),
    Row("download.novelEpub", other_than("off"), _NOVELS),
    Row("download.ugoiraFormat", written, "animations are not fetched by this version"),
    Row(
        "targets[].restrict",
        written,
        "is read by the modes follow and bookmarks only, which this version does not serve",
    ),
    Row("targets[].aiMetadataCheck", on, "what Pixiv says of a work decides; its pictures are not looked into"),
    Row("targets[].date", written, "is read by no search of this version; rankingDate, startDate and endDate are"),
    Row("targets[].topicDiscovery", written, _TOPICS),
    Row("targets[].candidateCollection", written, _TOPICS),
    Row("targets[].topicProfile", written, _TOPICS),
    Row("targets[].languageFilter", written, _LANGUAGES),
    Row("targets[].languageCandidateLimit", written, _LANGUAGES),
    Row("targets[].strictLanguageFilter", on, _LANGUAGES),
    Row("targets[].detectLanguage", on, _LANGUAGES),
    Row("targets[].noMatchPolicy.lookbackDays", other_than(0), "no earlier days are looked at by this version"),
    Row("targets[].noMatchPolicy.notify", on, _NOTICES),
    Row("targets[].delivery.richNovelPreview", written, _NOVELS),
    Row("delivery.deleteAfterDelivery", on, _KEPT),
    Row(f"{_MULTIPART}.notificationUrl", written, _NOTICES),
    Row(f"{_MULTIPART}.refetchOutcomeUrl", written, _NOTICES),
    Row(f"{_MULTIPART}.scheduleOutcomeUrl", written, _NOTICES),
    Row(f"{_MULTIPART}.maxAttempts", written, _RETRIED),
    Row(f"{_MULTIPART}.retryDelayMs", written, "delivery.outboxRetryBaseMs and outboxRetryMaxMs say when"),
    Row(f"{_MULTIPART}.capabilities", written, "a receiver of this type is sent everything"),
    Row(f"{_WEBHOOK}.pairingUrl", written, "this version does not pair"),
    Row(f"{_WEBHOOK}.pairingAllowRedirects", on, "this version does not pair"),
    Row(
        f"{_WEBHOOK}.capabilities.maxCaptionLength",
        other_than(0),
        "the one text is bounded by maxTextLength",
    ),
    Row(f"{_WEBHOOK}.capabilities.maxAttachmentsPerMessage", other_than(0), "a work goes out as one document"),
    Row(f"{_WEBHOOK}.capabilities.requiresTwoPhaseUpload", on, "files travel with their message"),
    Row(f"{_WEBHOOK}.capabilities.minSendIntervalMs", other_than(0), "what is due is sent, one row after the other"),
    Row(f"{_WEBHOOK}.capabilities.idempotencyMechanism", written, "every row carries its key, whatever is said here"),
    Row("delivery.targets{telegram}", written, "nothing is delivered to it: this version does not speak to Telegram"),
    Row("jobs", written, "jobs are not accepted by this version"),
    Row("tokenMaintenance", enabled, "a token is renewed when it is needed, and not before"),
    Row("operations.notificationUrl", written, _NOTICES),
)

_STEP: Final = re.compile(r"(\w+)|(\[\])|\{(\w+)\}")


def gaps(loaded: Loaded) -> tuple[Finding, ...]:
    """Each of them as a warning; none for a key that `loaded` warns of already."""
    named = {each.field for each in loaded.warnings}
    found = (*_joined(loaded.settings), *_unread(loaded.document))
    return tuple(each for each in found if each.field not in named)


def with_gaps(loaded: Loaded) -> Loaded:
    """`loaded`, with its gaps among its warnings."""
    return msgspec.structs.replace(loaded, warnings=(*loaded.warnings, *gaps(loaded)))


def _joined(settings: Settings) -> Iterator[Finding]:
    """What only shows in several values together, and what the environment asks for."""
    if not settings.pixiv.has_token:
        yield _warning("pixiv.refreshToken", "TOKEN_MISSING", "no token: Pixiv will answer nobody until there is one")
    if settings.manual_token:
        yield _warning(MANUAL_TOKEN, "KEY_UNSERVED", "this version has no routes for manual work or jobs")
    for place, target in enumerate(settings.targets):
        if (refusal := unserved(target)) is not None:
            hint = f"not served by this version: {refusal.hint}"
            yield _warning(f"targets[{place}].{refusal.key}", "TARGET_UNSERVED", hint)
        if named_routes(target.delivery) and not target.routes:
            hint = "delivered nowhere: only a target with storageMode cache goes to receivers"
            yield _warning(f"targets[{place}].delivery", "TARGET_UNDELIVERED", hint)


def _unread(document: Mapping[str, object]) -> Iterator[Finding]:
    for row in UNSERVED:
        for at, value in _found(document, [match.groups() for match in _STEP.finditer(row.key)], ()):
            if value is not None and row.asked(value):
                yield _warning(field(at), "KEY_UNSERVED", row.hint)


def _found(value: object, steps: list[tuple[str | None, ...]], at: Place) -> Iterator[tuple[Place, object]]:
    """Every place that `steps` lead to, with what stands there."""
    if not steps:
        yield at, value
        return
    (key, is_list, kind), *rest = steps
    if is_list and isinstance(value, list):
        for place, each in enumerate(value):
            yield from _found(each, rest, (*at, place))
    elif kind and isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, dict) and each.get("type") == kind:
                yield from _found(each, rest, (*at, name))
    elif key and isinstance(value, dict) and key in value:
        yield from _found(value[key], rest, (*at, key))


def _warning(place: str, code: str, message: str) -> Finding:
    return Finding(level=Level.WARNING, code=f"CONFIG_{code}", field=place, message=message)
