"""Ways to break the program on purpose: each module holds the `ROWS` of one area, `tests.sabotage` tries them.

A row that survives names a rule that no test guards.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sabotage:
    """One rule taken out of one file, and the tests that must notice."""

    name: str
    """What the broken program does, in a few words; unique."""
    file: str
    """Relative to the root of the project."""
    find: str
    """Stands in the file exactly once."""
    replace: str
    tests: tuple[str, ...]
    """pytest's ids or files; all of them pass on the unbroken program, at least one fails on the broken one."""
