"""`pixivflow config`: what is in force, and what is wrong with it."""

import os
import sys

import click

from pixivflow.cli.options import config_option, configuration, json_option


@click.group("config", help="Look at the configuration.")
def command() -> None:
    pass


@command.command("validate", help="Name everything that is wrong with the configuration, each fault by its place.")
@config_option
@json_option
def validate(config: str | None, as_json: bool) -> None:
    from pixivflow.cli.render import document
    from pixivflow.config.load import examine, load
    from pixivflow.config.validate import Report
    from pixivflow.daemon.gaps import gaps

    path = configuration(config)
    report = examine(path, os.environ)
    if not report.errors:
        report = Report(findings=(*report.findings, *gaps(load(path, os.environ))))
    if as_json:
        document({"path": f"{path}", **report.plain()})
    else:
        for finding in report.errors:
            click.echo(f"{finding}", err=True)
        for finding in report.warnings:
            click.echo(f"warning: {finding}", err=True)
        count = len(report.errors)
        click.echo(f"{path}: " + ("valid" if not count else "1 error" if count == 1 else f"{count} errors"))
    sys.exit(1 if report.errors else 0)
