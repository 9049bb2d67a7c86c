"""`pixivflow demo`: the whole program against a Pixiv and receivers of its own, without an account or a network."""

import signal
from pathlib import Path

import click

from pixivflow.cli.options import json_option


@click.command(
    "demo",
    help="Play one round offline: trigger, search, download, delivery, exit. The files stay in --dir.",
)
@click.option("--dir", "directory", type=click.Path(path_type=Path, file_okay=False), default=None)
@json_option
def command(directory: Path | None, as_json: bool) -> None:
    import tempfile

    import trio

    from pixivflow.cli.play import play
    from pixivflow.cli.render import document, progress, told
    from pixivflow.errors import ConfigError

    try:
        folder = directory or Path(tempfile.mkdtemp(prefix="pixivflow-demo-"))
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ConfigError("--dir", f"{folder}", "it is not empty; name a new or an empty folder")
        with progress() as step:
            result = trio.run(play, folder.absolute(), step)
    except OSError as error:
        raise ConfigError("--dir", f"{directory}", f"cannot be written to: {error.strerror or error}") from error
    if as_json:
        document(result.plain())
    else:
        told(result)
    if result.exit_reason in signal.Signals.__members__:
        raise click.Abort
    if not result.is_whole:
        raise click.ClickException(f"the round was not whole; {result.directory / 'daemon.log'} tells what happened")
