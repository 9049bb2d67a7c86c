"""What the name and the value of a header may hold, for who judges a configuration and for who sends a request."""

import re
from typing import Final

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f]")


def is_header_name(name: object) -> bool:
    """Whether `name` is a token, as RFC 9110 has it: no gap, no colon, nothing but ASCII."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def is_header_value(value: object) -> bool:
    """Whether `value` fits on the line of a header. What stands around it goes, and may be a line break: a value that
    was read from a file often ends in one."""
    return isinstance(value, str) and _CONTROLS.search(value.strip()) is None
