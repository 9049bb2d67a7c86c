"""No secret leaves this process in words: texts without credentials, fields without secret values.

Three nets, one behind the other: what a secret's name stands before is masked whole; every text loses what looks like
a credential; and the secrets that this process knows disappear wherever they stand.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from pixivflow.config.mask import MASK, Secret, is_secret
from pixivflow.config.texts import redacted, spellings_of, without
from pixivflow.observe.faults import told

DEPTH: Final = 6
"""What lies deeper in a field is not told."""


class Redactor:
    """Knows the secrets of this process, and lets none of them pass."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: tuple[str, ...] = ()
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        """From now on these texts are masked too, also inside of others; blank and very short ones are not."""
        fresh = {spelling for each in secrets for spelling in spellings_of(each)}
        self._known = tuple(sorted(fresh | set(self._known), key=len, reverse=True))

    def text(self, text: str) -> str:
        """`text` without secrets."""
        return redacted(without(text, self._known))

    def field(self, value: object, at: tuple[str, ...] = ()) -> object:
        """A field's value as it may be told, made of nothing but texts, numbers, lists and objects.

        `at`: the field's name, and the keys below it.
        """
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Secret) or is_secret(at):
            return MASK
        if isinstance(value, str):
            return self.text(str(value))
        if isinstance(value, int | float):
            return value if value == value and abs(value) != float("inf") else str(value)
        if len(at) > DEPTH:
            return "…"
        return self._composed(value, at)

    def _composed(self, value: object, at: tuple[str, ...]) -> object:
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.field(item, (*at, str(key))) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.field(item, (*at, "")) for item in value]
        if isinstance(value, BaseException):
            return self.field(told(value), at)
        if isinstance(value, bytes | bytearray | memoryview):
            return f"{len(value)} bytes"
        return self.text(_spelled(value))


def _spelled(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"
