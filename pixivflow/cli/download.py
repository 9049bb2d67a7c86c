"""`pixivflow download`: one work, now, without a plan."""

import os
import sys
from pathlib import Path

import click


@click.command("download", help="Download what an address names, into the configured folder.")
@click.option("--url", "url", required=True, help="An illustration's address on Pixiv, or its number.")
@click.option("--config", "config", default=None, help="The file; otherwise the usual places are searched.")
@click.option("--json", "-j", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(url: str, config: str | None, as_json: bool) -> None:
    import trio

    from actors.kit import SystemClock
    from pixivflow.cli.render import document, progress
    from pixivflow.config.load import discover, load
    from pixivflow.daemon.adhoc import bring
    from pixivflow.observe.known import known_secrets
    from pixivflow.observe.log import Log, format_of
    from pixivflow.observe.redact import Redactor
    from pixivflow.pixiv.links import illustration

    illust_id = illustration(url)
    settings = load(discover(config, os.environ, Path.cwd(), Path.home()), os.environ).settings
    redactor = Redactor(known_secrets(settings, os.environ))
    log = Log(sys.stderr, level=settings.log_level, form=format_of(os.environ), redactor=redactor)
    with progress() as step:
        step(f"downloading {illust_id}")
        brought = trio.run(bring, settings, illust_id, SystemClock(), log.note, os.environ)
    error = None if brought.error is None else redactor.text(brought.error)
    if as_json:
        files = [{"path": each.path, "bytes": each.size, "sha256": each.sha256} for each in brought.files]
        document({"illustId": illust_id, "files": files, "error": error})
    else:
        for each in brought.files:
            click.echo(each.path)
    if error is not None:
        click.echo(f"pixivflow: {illust_id}: {error}", err=True)
    sys.exit(0 if error is None else 1)
