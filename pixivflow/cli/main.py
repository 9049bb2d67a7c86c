"""The command `pixivflow` itself: its flags, and where each of its commands lives.

A command's module is imported when it is called, so that `--help` and `--version` answer before anything of the work is
loaded. Answers go to standard output, everything else to standard error.
"""

import difflib
import importlib
import sys
from typing import Final

import click

from pixivflow import __version__
from pixivflow.cli.ending import AS_JSON, ending, open_streams

COMMANDS: Final = {
    "config": ("pixivflow.cli.config", "Look at the configuration."),
    "demo": ("pixivflow.cli.demo", "Play the whole program offline, against a Pixiv and receivers of its own."),
    "download": ("pixivflow.cli.download", "Download what an address names."),
    "sandbox": ("pixivflow.cli.sandbox", "Serve a Pixiv and a receiver for tests, offline."),
    "scheduler": ("pixivflow.cli.scheduler", "Run the daemon."),
    "status": ("pixivflow.cli.status", "Tell what the ledger holds."),
}
"""Each command's module, whose `command` it is, and its line in the help."""


class Commands(click.Group):
    """Knows its commands by name, and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS)
            hint = f", did you mean {' or '.join(near)}?" if near else "."
            raise click.ClickException(f"Unknown command {args[0]!r}{hint} `pixivflow --help` lists all.")
        return super().resolve_command(ctx, args)


@click.group(
    "pixivflow",
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Finds, filters and downloads Pixiv works on schedules, and hands the results to other services.",
    invoke_without_command=True,
)
@click.version_option(__version__, "-v", "--version", message="pixivflow %(version)s")
@click.pass_context
def group(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(args: list[str] | None = None, prog_name: str = "pixivflow") -> None:
    """Run the command line and end the process. Exit 1: what is wrong is told in a line or a block.

    Where it happened is told only for what nobody expected; a credential never.
    """
    open_streams()
    given = sys.argv[1:] if args is None else args
    try:
        code = group.main(given, prog_name, standalone_mode=False)
    except SystemExit:
        raise
    except BaseException as error:
        code = ending(error, as_json=not AS_JSON.isdisjoint(given))
    sys.exit(code if isinstance(code, int) else 0)
