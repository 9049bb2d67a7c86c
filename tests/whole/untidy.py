"""`python -m tests.whole.untidy ARGUMENTS…`: the program with a ledger that does not wait for the disk, on purpose."""

import sys

from pixivflow.cli.main import main
from pixivflow.ledger import connection

TIDY = connection.pragmas


def untidy(checkpoint_pages: int, busy_timeout_ms: int) -> tuple[str, ...]:
    """The pragmas of production, but for the one that makes a commit wait."""
    told = TIDY(checkpoint_pages, busy_timeout_ms)
    return tuple(statement.replace("synchronous = FULL", "synchronous = OFF") for statement in told)


if __name__ == "__main__":
    connection.pragmas = untidy
    main(sys.argv[1:])
