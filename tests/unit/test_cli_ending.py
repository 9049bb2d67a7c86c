"""How a command that failed leaves: its exit code, and one reason on standard error."""

import errno
import json

import click
import pytest

from pixivflow.cli.ending import INTERRUPTED, ending
from pixivflow.errors import ConfigError, LedgerLost

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConfigError("targets", None, "none is named"), "targets: None: none is named"),
        (click.ClickException("it did not come"), "it did not come"),
        (PermissionError(errno.EACCES, "Permission denied", "/a/file"), "/a/file: Permission denied"),
        (ExceptionGroup("", [ExceptionGroup("", [LedgerLost("gone")])]), "gone"),
    ],
)
def test_a_failure_is_one_line_for_people_and_one_document_for_programs(
    error: Exception, reason: str, capfd: Capture
) -> None:
    assert ending(error, as_json=False) == 1
    assert capfd.readouterr() == ("", f"❌ {reason}\n")
    assert ending(error, as_json=True) == 1
    out, err = capfd.readouterr()
    assert (out, json.loads(err)) == ("", {"success": False, "error": reason})


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        click.Abort(),
        BaseExceptionGroup("", [KeyboardInterrupt()]),
        BaseExceptionGroup("", [BaseExceptionGroup("", [KeyboardInterrupt(), OSError("torn")]), ValueError()]),
    ],
)
def test_ctrl_c_is_told_as_such_whatever_broke_over_it(error: BaseException, capfd: Capture) -> None:
    assert ending(error, as_json=False) == INTERRUPTED
    assert capfd.readouterr() == ("", "❌ interrupted\n")


@pytest.mark.parametrize(
    "error", [ValueError("token=hidden-9"), ExceptionGroup("", [ConfigError("a", 1, "b"), OSError("c")])]
)
def test_a_bug_is_told_with_its_place_and_without_a_credential(error: Exception, capfd: Capture) -> None:
    assert ending(error, as_json=False) == 1
    said = capfd.readouterr().err
    assert type(error).__name__ in said
    assert "hidden-9" not in said


def test_bad_arguments_are_told_with_the_usage(capfd: Capture) -> None:
    context = click.Context(click.Command("status"), info_name="pixivflow status")
    assert ending(click.UsageError("No such option '--x'.", context), as_json=False) == 1
    assert (
        capfd.readouterr().err
        == "❌ Invalid arguments:\n  No such option '--x'.\n\nUsage: pixivflow status [OPTIONS]\n"
    )
