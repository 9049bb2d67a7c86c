"""`${NAME}` in a URL, a header or a credential: a reference to the environment, followed when a request is made."""

import re
from collections.abc import Mapping
from typing import Final

from pixivflow.errors import ConfigError

REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)


def filled(text: str, environ: Mapping[str, str]) -> str:
    """`text` with every reference replaced by what the environment says now; a value is not looked through again.

    Errors: `ConfigError` naming a variable that is not set or empty, since a request without its credential only looks
    like a request.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if not environ.get(name):
            raise ConfigError("${" + name + "}", None, "this variable of the environment is not set")
        return environ[name]

    return REFERENCE.sub(value, text)


def names(text: str) -> tuple[str, ...]:
    """The variables that `text` refers to, in order."""
    return tuple(REFERENCE.findall(text))
