"""How a command that failed leaves: the reason on standard error, a line for people or a document for programs."""

import json
import os
import sys
from typing import Final

import click

from pixivflow.errors import PixivflowError

FAILED: Final = 1
INTERRUPTED: Final = 130
"""What a shell gives to a command that Ctrl-C ended: 128 and the signal's number."""

AS_JSON: Final = frozenset({"--json", "-j"})


def ending(error: BaseException, *, as_json: bool) -> int:
    """Say why the command failed; its exit code."""
    match sole(error):
        case KeyboardInterrupt() | click.Abort():
            _say("interrupted", as_json=as_json)
            return INTERRUPTED
        case click.UsageError() as usage if not as_json and usage.ctx is not None:
            _say(f"Invalid arguments:\n  {usage.format_message()}\n\n{usage.ctx.get_usage()}", as_json=False)
        case click.ClickException() as refusal:
            _say(refusal.format_message(), as_json=as_json)
        case PixivflowError() as refusal:
            _say(f"{refusal}", as_json=as_json)
        case BrokenPipeError():
            _stop_writing()
            _say("standard output was closed before everything was written", as_json=as_json)
        case OSError() as fault:
            _stop_writing()
            where = f"{fault.filename}: " if fault.filename is not None else ""
            _say(f"{where}{fault.strerror or fault}", as_json=as_json)
        case bug:  # where it happened is all that helps, and its words may be anybody's
            from pixivflow.observe.faults import stack

            _say(stack(bug), as_json=as_json)
    return FAILED


def sole(error: BaseException) -> BaseException:
    """The one error inside of groups of one; Ctrl-C counts before all that it broke."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    if error.subgroup(KeyboardInterrupt) is not None:
        return KeyboardInterrupt()
    return sole(error.exceptions[0]) if len(error.exceptions) == 1 else error


def open_streams() -> None:
    """Give a stream that was closed before the start to the system's bin, so that nothing fails for want of it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # open as long as the process


def _say(reason: str, *, as_json: bool) -> None:
    from pixivflow.config.texts import redacted

    told = redacted(reason)
    line = json.dumps({"success": False, "error": told}, ensure_ascii=False) if as_json else f"❌ {told}"
    click.echo(line, err=True)


def _stop_writing() -> None:
    """What is left in a buffer would be written once more at the end, and fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
