"""`pixivflow demo`: the whole program against a Pixiv and receivers of its own, without an account or a network."""

import sys
from pathlib import Path

import click


@click.command(
    "demo",
    help="Play one round offline: trigger, search, download, delivery, exit. The files stay in --dir.",
)
@click.option("--dir", "directory", type=click.Path(path_type=Path, file_okay=False), default=None)
@click.option("--json", "-j", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(directory: Path | None, as_json: bool) -> None:
    import tempfile

    import trio

    from pixivflow.cli.play import play
    from pixivflow.cli.render import document, progress, told
    from pixivflow.errors import ConfigError

    try:
        folder = directory or Path(tempfile.mkdtemp(prefix="pixivflow-demo-"))
        folder.mkdir(parents=True, exist_ok=True)
        with progress() as step:
            result = trio.run(play, folder.absolute(), step)
    except OSError as error:
        raise ConfigError("--dir", f"{directory}", f"cannot be written to: {error.strerror or error}") from error
    if as_json:
        document(result.plain())
    else:
        told(result)
    sys.exit(0 if result.is_whole else 1)
