"""How answers leave: one JSON document on standard output, or lines for people; progress on standard error."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pixivflow.cli.play import Played


def document(content: object) -> None:
    """One JSON document."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2))


@contextmanager
def progress() -> Iterator[Callable[[str], object]]:
    """One line that says what is going on, while it is going on. Without a terminal it says nothing."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(text)


def told(result: "Played") -> None:
    """What a round of the demo did."""
    for slot in result.story.slots:
        click.echo(f"slot {slot.id}: {slot.status} ({slot.business_status or 'outcome not known yet'})")
        for cell in slot.cells:
            work = f", work {cell.work_id}" if cell.work_id else ""
            click.echo(f"  target {cell.target_id}: {cell.status}{work}{f', {cell.error}' if cell.error else ''}")
    for each in result.story.deliveries:
        arrivals = result.arrived(each.route, each.key)
        click.echo(f"delivery of {each.work_id} to {each.route}: {each.status}, arrived {arrivals}x")
    for path in result.story.files:
        click.echo(f"file {path}")
    click.echo(f"the daemon left ({result.exit_reason}) after {result.duration_ms / 1000:.1f} s")
    click.echo(f"everything is in {result.directory}; its log is daemon.log, its ledger {result.ledger.name}")
