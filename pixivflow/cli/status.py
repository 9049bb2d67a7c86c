"""`pixivflow status`: what the ledger holds, whether or not a daemon lives."""

import os

import click

from pixivflow.cli.options import config_option, configuration, json_option


@click.command("status", help="Tell the newest slots and deliveries, and what is owed.")
@config_option
@click.option("--last", type=click.IntRange(1, 1_000), default=10, show_default=True, help="How many of each.")
@json_option
def command(config: str | None, last: int, as_json: bool) -> None:
    import msgspec

    from pixivflow.cli.render import delivery_line, document, slot_lines
    from pixivflow.config.load import load
    from pixivflow.errors import ConfigError
    from pixivflow.ledger.story import story

    path = load(configuration(config), os.environ).settings.storage.database_path
    told = story(path, last)
    if told is None:
        raise ConfigError("storage.databasePath", f"{path}", "there is no ledger yet; it is made by the first run")
    if as_json:
        document({"ledger": f"{path}", **msgspec.to_builtins(told)})
        return
    click.echo(f"ledger {path}: {told.open_slots} slots and {told.owed_rows} deliveries are owed")
    if told.held is not None:
        click.echo(f"nothing is searched or delivered until {path}.hold is removed: {told.held}")
    for line in slot_lines(told.slots):
        click.echo(line)
    for each in told.deliveries:
        click.echo(delivery_line(each))
