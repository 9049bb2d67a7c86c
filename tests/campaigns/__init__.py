"""Long searches for a failure: each module has `run(seed) -> Result`, and one seed always does the same.

`python -m tests.campaign NAME --seeds N` runs one of them; CI runs a few seeds of each as tests.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """What one seed showed."""

    ok: bool
    line: str
    """For a person: what was done, and on failure what was broken. One line."""
