"""`pixivflow scheduler`: the daemon."""

import os
import sys

import click

from pixivflow.cli.options import config_option, configuration


@click.command("scheduler", help="Run the daemon until it is told to stop. Lines about what happens go to stderr.")
@config_option
def command(config: str | None) -> None:
    from pixivflow.daemon.start import start

    sys.exit(start(configuration(config), os.environ))
