"""Where lines go. It outlives what it writes to."""

import sys
from typing import TextIO


class Stream:
    """A stream that may be closed, full or gone: a line is then lost, and that is said once."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._complained = stream, False

    def write_line(self, line: str) -> None:
        """Write the line, or lose it. What cannot be encoded is spelled out."""
        encoding = self._stream.encoding or "utf-8"
        try:
            self._stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
            self._stream.flush()
        except (OSError, ValueError) as error:
            self.complain(f"lines of the log are lost: {type(error).__name__}")

    def complain(self, reason: str) -> None:
        """Say on the last stream there is that lines get lost, once."""
        if not self._complained and sys.__stderr__ is not None:
            self._complained = True
            try:
                print(f"pixivflow: {reason}", file=sys.__stderr__)
            except (OSError, ValueError):
                return
