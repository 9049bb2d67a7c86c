"""What goes wrong between actors, and the one way to look inside exception groups."""

from collections.abc import Iterator


class KitError(Exception):
    """The root of the kit's own errors."""


class NoAnswer(KitError):
    """An `ask` met its deadline, or the actor died with the question in its hands. Whether it acted is unknown."""


class GiveUp(KitError):
    """A child used up its restarts; the supervisor that raises this has stopped its other children in order."""

    def __init__(self, child: str) -> None:
        super().__init__(f"{child} cannot go on")
        self.child = child


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions inside nested groups, in order; a plain exception is its own leaf."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def unwrapped(error: BaseException) -> BaseException:
    """The one exception inside a group of one, however deep; any other error as it is."""
    found = list(leaves(error))
    return found[0] if len(found) == 1 else error
