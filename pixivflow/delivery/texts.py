"""How much of a receiver's words a row keeps, in characters."""

from typing import Final

ERROR_CHARS: Final = 1_000
"""The longest error text that a row keeps."""

REMOTE_CHARS: Final = 500
"""The longest name or status of a receiver that a row keeps."""
