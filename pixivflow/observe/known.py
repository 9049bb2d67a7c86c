"""Which texts of this process are secrets."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from pixivflow.config.mask import Secret, credentials_in, is_secret
from pixivflow.config.model.accounts import PLACEHOLDER
from pixivflow.config.references import REFERENCE, names

_SCHEMES: Final = frozenset({"bearer", "basic", "token"})


def known_secrets(value: object, environ: Mapping[str, str], at: tuple[str, ...] = ()) -> Iterator[str]:
    """Every secret of a snapshot, or of a part of it, with what the environment holds for its references.

    `at`: the way to the part. A header counts as secret by its name, since most headers are not.
    """
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            yield from known_secrets(getattr(value, field.name), environ, (*at, field.encode_name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from known_secrets(item, environ, (*at, str(key)))
    elif isinstance(value, tuple):
        for item in value:
            yield from known_secrets(item, environ, at)
    elif isinstance(value, Secret) and ("headers" not in at or is_secret(at)):
        yield from _within(value.reveal(), environ)
    elif isinstance(value, str):
        yield from (environ.get(name, "") for name in names(value) if is_secret((name,)))
        yield from (word for word in credentials_in(value) if not REFERENCE.search(word))


def _within(text: str, environ: Mapping[str, str]) -> Iterator[str]:
    """The words of a credential, without the name of its scheme, and what its references stand for."""
    yield from (environ.get(name, "") for name in names(text))
    words = REFERENCE.sub(" ", text).split()
    yield from (word for word in words if word.lower() not in _SCHEMES and word != PLACEHOLDER)
