"""What must not be seen: values that hide themselves, documents without their secrets, single values in a message."""

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from pixivflow.config.references import REFERENCE

MASK: Final = "***"
"""What stands for a secret, whole: no first or last letters, no length."""

SHOWN_CHARS: Final = 60
"""The longest value that a message repeats."""

SHORTEST_VALUE: Final = 6
"""A value in a query with fewer characters chooses something, as in `format=json`, and opens nothing."""

_OPAQUE: Final = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_~.-]{16,}")
"""A part of a path with letters and digits, longer than names are."""

_SECRET_KEYS: Final = re.compile(
    r"tokens?$|secret|password|passphrase|cookie|authorization|credential|api_?key", re.IGNORECASE
)
_OPEN_KEYS: Final = frozenset({"deviceToken"})
_NAMED: Final = frozenset({"targets", "pixivAccounts"})
"""Keys below which the operator gives the names; a route called `my-token` hides nothing."""
_SECRET_HEADERS: Final = re.compile(r"authorization|cookie|token|secret|auth|key|password|credential", re.IGNORECASE)
_SCHEME: Final = re.compile(r"\s*(bearer|basic|token|bot)?\s*", re.IGNORECASE)
_USER: Final = re.compile(r"(?<=://)[^/?#\s]*@")
_QUERIED: Final = re.compile(r"(?<=[?&])([^=&#\s]*=)?([^&#\s]+)")
_ADDRESS_KEYS: Final = re.compile(r"ur[li]s?$|^(?:api|oauth|web|image)$", re.IGNORECASE)
_ADDRESS: Final = re.compile(
    r"([a-z][a-z0-9+.-]*://)([^/?#\s]*@)?([^/?#\s@]*)(/[^?#\s@]*)?(\?\S*)?(?:#\S*)?", re.IGNORECASE
)
_BOT: Final = re.compile(r"/bot\d+(?::|%3a)[^/]+", re.IGNORECASE)


class Secret:
    """A text that shows itself only to who asks by name. Nothing encodes it, so nothing stores it by chance."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the one request that needs it. It may hold `${NAME}`, which is a reference."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"Secret({MASK if self._text else ''})"

    __str__ = __repr__


def is_secret(at: Sequence[str | int]) -> bool:
    """Whether nobody may see what stands at this place of a document: a credential, or a header that carries one."""
    keys = [step for before, step in pairwise(("", *at)) if isinstance(step, str) and before not in _NAMED]
    if "headers" in keys:
        return any(map(_SECRET_HEADERS.search, keys[keys.index("headers") + 1 :]))
    return any(key not in _OPEN_KEYS and _SECRET_KEYS.search(key) is not None for key in keys)


def credentials_in(address: str) -> Iterator[str]:
    """What an address carries that nobody may repeat, decoded and as it is written; nothing where `address` is none.

    That is the password, or a user who has none, since then it is the key itself; both together, also as a request
    carries them; the values of the query; and parts of the path that no person writes: some services put keys there.
    """
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return
    if not parts.scheme or not parts.netloc:
        return
    who = parts.netloc.rpartition("@")[0]
    word = who.split(":", 1)[-1]
    yield from {word, unquote(word), *(_logins(who) if who else ())} - {""}
    yield from (each for part in parts.path.split("/") for each in {part, unquote(part)} if _OPAQUE.fullmatch(each))
    written = [pair.partition("=")[2] for pair in parts.query.split("&")]
    meant = [value for _, value in parse_qsl(parts.query)]
    yield from {value for value in (*written, *meant) if len(value) >= SHORTEST_VALUE}


def _logins(who: str) -> Iterator[str]:
    """User and password as they are written, as they are meant, and as `Basic` carries them."""
    user, _, password = who.partition(":")
    meant = f"{unquote(user)}:{unquote(password)}"
    yield from (who, meant) if password else ()
    yield base64.b64encode(meant.encode("utf-8", "replace")).decode()


def masked(value: object, at: tuple[str | int, ...] = ()) -> object:
    """A copy of a document, or of what stands `at` a place of it, without its secrets.

    A reference `${NAME}` is no secret and stays as it is written; so does an empty text.
    """
    if isinstance(value, Mapping):
        return {key: masked(item, (*at, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [masked(item, (*at, position)) for position, item in enumerate(value)]
    if not is_secret(at) or value is None or isinstance(value, bool):
        return _without_credentials(value, at) if isinstance(value, str) else value
    return value if isinstance(value, str) and _only_refers(value) else MASK


def shown(at: Sequence[str | int], value: object) -> str:
    """What a message may say about a value: its kind or its text, never a secret, never a control character.

    Of an address it says the place alone, and of what stands where an address should, and is none, nothing.
    """
    if isinstance(value, Mapping | list):
        return "a list" if isinstance(value, list) else "an object"
    hidden = masked(value, tuple(at))
    if isinstance(hidden, str) and isinstance(value, str) and _is_address(value, at):
        hidden = place_of(value) or (value if not value.strip() or _only_refers(value) else MASK)
    if hidden == MASK and value != MASK:
        return "what stands there"
    if isinstance(hidden, str) and len(hidden) > SHOWN_CHARS:
        hidden = hidden[:SHOWN_CHARS] + "…"
    return json.dumps(hidden) if isinstance(hidden, str | int | float | bool | None) else type(hidden).__name__


def place_of(address: str) -> str | None:
    """`scheme://[redacted@]host[:port]/path[?…]`; None for what is no address, or not surely one."""
    found = _ADDRESS.fullmatch(address.strip())
    if found is None:
        return None
    scheme, user, host, path, query = found.groups()
    shown_path = _BOT.sub(f"/bot{MASK}", path or "")
    return f"{scheme}{'redacted@' if user else ''}{host}{shown_path}{'?…' if query else ''}"


def _is_address(value: str, at: Sequence[str | int]) -> bool:
    key = next((step for step in reversed(at) if isinstance(step, str)), "")
    return "://" in value or _ADDRESS_KEYS.search(key) is not None or (key == "host" and "@" in value)


def _without_credentials(value: str, at: Sequence[str | int]) -> str:
    """The value of a key that is no secret; if it is an address, without its user and what its query tells."""
    shown_user = _USER.sub(f"{MASK}@", value)
    return _QUERIED.sub(_unless_reference, shown_user) if _is_address(value, at) else shown_user


def _unless_reference(found: re.Match[str]) -> str:
    name, value = found.groups()
    return found[0] if REFERENCE.fullmatch(value) else f"{name or ''}{MASK}"


def _only_refers(text: str) -> bool:
    """Whether nothing but the name of a scheme stands around the references."""
    return _SCHEME.fullmatch(REFERENCE.sub("", text)) is not None
