"""The command `pixivflow` itself, and its global flags."""

import click

from pixivflow import __version__


@click.command(
    "pixivflow",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Pixiv works on schedules, handed on once. This version has no commands yet: it tells what it is.",
)
@click.version_option(__version__, "-v", "--version", message="pixivflow %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    click.echo(context.get_help())
