"""`pixivflow download`: one work, now, without a plan."""

import os
import sys

import click

from pixivflow.cli.options import config_option, configuration, json_option


@click.command("download", help="Download what an address names, into the configured folder.")
@click.option("--url", "url", required=True, help="An illustration's address on Pixiv, or its number.")
@config_option
@json_option
def command(url: str, config: str | None, as_json: bool) -> None:
    import trio

    from actors.kit import SystemClock
    from pixivflow.cli.render import document, progress
    from pixivflow.config.load import load
    from pixivflow.daemon.adhoc import bring
    from pixivflow.observe.opened import opened
    from pixivflow.pixiv.links import illustration

    illust_id = illustration(url)
    settings = load(configuration(config), os.environ).settings
    log = opened(settings, os.environ, sys.stderr)
    with progress() as step:
        step(f"downloading {illust_id}")
        brought = trio.run(bring, settings, illust_id, SystemClock(), log.note, os.environ)
    if brought.error is not None:
        raise click.ClickException(log.redactor.text(f"{illust_id}: {brought.error}"))
    if as_json:
        files = [{"path": each.path, "bytes": each.size, "sha256": each.sha256} for each in brought.files]
        document({"illustId": illust_id, "files": files})
        return
    for each in brought.files:
        click.echo(each.path)
