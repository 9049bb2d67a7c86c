"""`pixivflow scheduler`: the daemon."""

import os
import sys
from pathlib import Path

import click


@click.command("scheduler", help="Run the daemon until it is told to stop. Lines about what happens go to stderr.")
@click.option("--config", "config", default=None, help="The file; otherwise the usual places are searched.")
def command(config: str | None) -> None:
    from pixivflow.config.load import discover
    from pixivflow.daemon.start import start

    sys.exit(start(discover(config, os.environ, Path.cwd(), Path.home()), os.environ))
