"""What must not be seen: values that hide themselves, and documents without them."""

from typing import Final

MASK: Final = "***"
"""What stands for a secret, whole: no first or last letters, no length."""


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
