"""`pixivflow status`: what the ledger holds, whether or not a daemon lives."""

import os
from pathlib import Path

import click


@click.command("status", help="Tell the newest slots and deliveries, and what is owed.")
@click.option("--config", "config", default=None, help="The file; otherwise the usual places are searched.")
@click.option("--last", type=click.IntRange(1, 1_000), default=10, show_default=True, help="How many of each.")
@click.option("--json", "-j", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(config: str | None, last: int, as_json: bool) -> None:
    import msgspec

    from pixivflow.cli.render import document
    from pixivflow.config.load import discover, load
    from pixivflow.errors import ConfigError
    from pixivflow.ledger.story import story

    path = load(discover(config, os.environ, Path.cwd(), Path.home()), os.environ).settings.storage.database_path
    if not path.is_file():
        raise ConfigError("storage.databasePath", f"{path}", "there is no ledger yet; it is made by the first run")
    told = story(path, last)
    if as_json:
        document({"ledger": f"{path}", **msgspec.to_builtins(told)})
        return
    click.echo(f"ledger {path}: {told.open_slots} slots and {told.owed_rows} deliveries are owed")
    for slot in told.slots:
        click.echo(f"slot {slot.id}: {slot.status} ({slot.business_status or 'outcome not known yet'})")
        for cell in slot.cells:
            click.echo(f"  {cell.target_id}: {cell.status} {cell.work_id or ''} {cell.error or ''}".rstrip())
    for each in told.deliveries:
        click.echo(f"delivery of {each.work_id} to {each.route}: {each.status} {each.remote_id or ''}".rstrip())
