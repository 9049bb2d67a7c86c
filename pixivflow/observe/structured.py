"""structlog, as little of it as is needed, and only once somebody carries fields."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from pixivflow.observe.lines import Event
from pixivflow.observe.stream import Stream

if TYPE_CHECKING:
    from structlog.typing import Processor


_is_loaded = False


class Write(Protocol):
    """Writes one event."""

    def __call__(self, event: str, /, **fields: object) -> None: ...


def bound_logger(stream: Stream, render: Callable[[Event], str]) -> Write:
    """What passes an event, with the context of its task, through `render` to `stream`.

    Until somebody carries fields there is no context, and structlog is not loaded for having none: with all that it
    brings along it takes a tenth of a second, and the first line is written before the door opens.
    """
    made: Write | None = None

    def write(event: str, /, **fields: object) -> None:
        nonlocal made
        if made is None and not _is_loaded:  # a thread may be at it: whoever imports it too waits for that thread
            stream.write_line(render({"event": event, **fields}))
            return
        made = made or _through_structlog(stream, render)
        made(event, **fields)

    return write


def load() -> None:
    """Import structlog, if nobody has. For a thread, where an event loop must not wait for it."""
    global _is_loaded
    if not _is_loaded:
        with _without_rich():
            import structlog  # noqa: F401
        _is_loaded = True


def _through_structlog(stream: Stream, render: Callable[[Event], str]) -> Write:
    import structlog

    def rendered(logger: Any, method: str, event: Event) -> str:
        return render(event)

    class Logger(structlog.BoundLoggerBase):
        def write(self, event: str, /, **fields: object) -> None:
            self._proxy_to_logger("write_line", event, **fields)

    processors: list[Processor] = [structlog.contextvars.merge_contextvars, rendered]
    logger: Logger = structlog.wrap_logger(stream, processors=processors, wrapper_class=Logger, context_class=dict)
    return logger.bind().write


def carried(**fields: object) -> AbstractContextManager[None]:
    """Fields for every event of this task and of the tasks that it starts."""
    load()
    import structlog

    return structlog.contextvars.bound_contextvars(**fields)


@contextmanager
def _without_rich() -> Iterator[None]:
    """A block in which rich cannot be imported, unless it has been: structlog then does without its colours."""
    if "rich" in sys.modules or "structlog" in sys.modules:
        yield
        return
    modules: dict[str, ModuleType | None] = cast("dict[str, ModuleType | None]", sys.modules)
    modules["rich"] = None  # Python's own way to say: not there
    try:
        yield
    finally:
        del sys.modules["rich"]
