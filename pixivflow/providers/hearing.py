"""What a receiver said, read once and leniently: a word that we cannot read is no word of praise.

    no body, or one that neither claims nor begins to be JSON ──▶ nothing told, judged by the status
    JSON, with whatever is odd in it made harmless ────────────▶ told
    what claims or begins to be JSON and is none, or too much ─▶ unclear: no verdict

Half a surrogate, as a program leaves that cuts an emoji in two, becomes the mark of a lost character; a number that
nobody can hold becomes nothing.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from pixivflow.config.texts import shortened
from pixivflow.delivery.model import RetryableFailure
from pixivflow.providers.exchange import Answer

DEPTH: Final = 100
"""Levels that are read; more of them say nothing, and would be read differently by different interpreters."""
DIGITS: Final = 1_000
"""Digits of a whole number that are read; Python itself stops at 4 300."""
QUOTED_CHARS: Final = 200

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_HALF: Final = re.compile("[\ud800-\udfff]")
_JSON_TYPE: Final = re.compile(r"\s*[\w.+-]+/(?:[\w.-]+\+)?json\s*(?:;|$)", re.IGNORECASE)


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """An answer as its parsers see it.

    `text`: the body, bytes that are no text replaced. `told`: its JSON, None where there is none. `is_unclear`: there
    is JSON, or was to be, and nobody can read it.
    """

    status: int
    headers: Mapping[str, str] = {}
    text: str = ""
    told: object = None
    is_unclear: bool = False


def heard(answer: Answer, quiet: Callable[[str], str] = str) -> Said:
    """What the answer says. `quiet`: takes out of a text what nobody may repeat.

    Nothing else sees a text before it went through `quiet`: one that was cut or put into lower case looks like no
    secret any more. The texts inside of JSON go through by themselves, since JSON spells them as it likes.
    """
    text = answer.body.decode(json.detect_encoding(answer.body), "replace").removeprefix("\ufeff")
    said = Said(status=answer.status, headers=answer.headers, text=quiet(text))
    is_json = _JSON_TYPE.match(answer.headers.get("content-type", "")) is not None
    if not answer.is_whole:
        return msgspec.structs.replace(said, is_unclear=is_json)
    if not text.strip() or not (is_json or text.lstrip().startswith(("{", "["))):
        return said
    try:
        return msgspec.structs.replace(said, told=_each(_read(text), lambda each: quiet(_HALF.sub("\ufffd", each))))
    except (ValueError, RecursionError):
        return msgspec.structs.replace(said, is_unclear=True)


def unclear(said: Said) -> RetryableFailure:
    """No verdict. It may well have been a good one, so the next answer may be about this attempt."""
    quote = shortened(said.text, QUOTED_CHARS).strip()
    told = f"answered HTTP {said.status} with something that cannot be read"
    return RetryableFailure(error=f"{told}: {quote}" if quote else told, http_status=said.status, answer_unknown=True)


def _read(text: str) -> object:
    """Errors: `ValueError`."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > DEPTH:
            raise ValueError("too deep")
    return json.loads(text, strict=False, parse_int=_integer, parse_float=_real, parse_constant=lambda _: None)


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= DIGITS else None


def _real(digits: str) -> float | None:
    return found if math.isfinite(found := float(digits)) else None


def _each(told: object, change: Callable[[str], str]) -> object:
    """The same, every text of it changed."""
    match told:
        case str():
            return change(told)
        case list():
            return [_each(item, change) for item in told]
        case dict():
            return {key: _each(item, change) for key, item in told.items()}
        case _:
            return told
