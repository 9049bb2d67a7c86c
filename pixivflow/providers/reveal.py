"""Secrets for the time of one attempt: filled in when a request is made, kept out of everything that is told of it."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

import msgspec

from pixivflow.config.mask import Secret, credentials_in, is_secret
from pixivflow.config.references import filled, names
from pixivflow.config.texts import SHORTEST, spellings_of, without, without_torn
from pixivflow.delivery.model import Ack

_TOLD: Final = frozenset({"error", "remote_id", "remote_status", "raw"})
"""Not the key that an answer names: keys are compared, and no secrets."""

A = TypeVar("A", bound=Ack)


class Reveal:
    """Fills references from the environment, and remembers what nobody may repeat. `hidden`: what else that is.

    `spared`: the key of the promise. It is no secret, and an answer that names it is compared with it.
    """

    def __init__(self, environ: Mapping[str, str], hidden: Iterable[str] = (), *, spared: str | None = None) -> None:
        self._environ, self._spared = environ, spared
        self._hidden = set(hidden)
        self._spelt: tuple[int, frozenset[str]] = (0, frozenset())

    def text(self, text: str) -> str:
        """`text` with its references filled. Errors: `ConfigError` naming a variable that is not set."""
        whole = filled(text, self._environ)
        self._hidden.update(self._environ[name] for name in names(text))
        return whole

    def address(self, text: str) -> str:
        """An address, its references filled; what it carries beside the place is hidden. Errors: as `text`."""
        whole = self.text(text)
        self._hidden.update(credentials_in(whole))
        return whole

    def secret(self, secret: Secret) -> str:
        """The secret itself, its references filled. Errors: as `text`."""
        whole = self.text(secret.reveal())
        self._hidden.add(whole)
        return whole

    def header(self, name: str, value: Secret) -> str:
        """The value of a configured header; hidden where its name says that it is a credential. Errors: as `text`."""
        if not is_secret(("headers", name)):
            return self.text(value.reveal())
        whole = self.secret(value)
        self._hidden.update(whole.split())  # the credential without the name of its scheme
        self._hidden.update(_within_basic(whole))
        return whole

    def masked(self, text: str) -> str:
        """`text` without anything that was revealed, as a receiver's error page might repeat it, in whatever case."""
        if text == self._spared:
            return text
        return without(text, self._spellings)

    @property
    def _spellings(self) -> frozenset[str]:
        if self._spelt[0] != len(self._hidden):  # an answer may hold more texts than anybody should spell this for
            self._spelt = (len(self._hidden), frozenset().union(*map(spellings_of, self._hidden)))
        return self._spelt[1]

    def discreet(self, ack: A) -> A:
        """`ack` without anything that was revealed, in the words that come from the receiver."""
        told = {name: value for name, value in msgspec.structs.asdict(ack).items() if name in _TOLD}
        return msgspec.structs.replace(ack, **{name: self._quiet(value) for name, value in told.items()})

    def _quiet(self, value: object) -> object:
        match value:
            case str():
                return without_torn(self.masked(value), self._spellings, SHORTEST)
            case dict():
                return {key: self._quiet(item) for key, item in value.items()}
            case _:
                return value


def _within_basic(header: str) -> Iterator[str]:
    """User and password, and the password alone, of a header that somebody encoded by hand."""
    scheme, _, login = header.strip().partition(" ")
    if scheme.lower() != "basic":
        return
    try:
        plain = base64.b64decode(login.strip(), validate=True).decode()
    except ValueError:
        return
    yield plain
    yield plain.partition(":")[2]
