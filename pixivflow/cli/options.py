"""What several commands take: which configuration, and for whom the answer is."""

import os
from pathlib import Path
from typing import Final

import click

from pixivflow.errors import ConfigError

config_option: Final = click.option(
    "--config", "config", default=None, help="The file; otherwise the usual places are searched."
)
json_option: Final = click.option("--json", "-j", "as_json", is_flag=True, help="One JSON document on standard output.")


def configuration(asked: str | None) -> Path:
    """The file that `--config` names, or the one that is found. Errors: `ConfigError` where none is to be had."""
    from pixivflow.config.load import discover

    try:
        here = Path.cwd()
    except OSError as error:
        raise ConfigError("the working directory", None, f"it is not there any more: {error.strerror}") from error
    return discover(asked, os.environ, here, Path.home())
