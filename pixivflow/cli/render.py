"""How answers leave: one JSON document on standard output, or lines for people; progress on standard error."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pixivflow.cli.play import Played
    from pixivflow.ledger.story import CellStory, DeliveryStory, SlotStory


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


def slot_lines(slots: "Iterable[SlotStory]") -> Iterator[str]:
    """Each slot and, below it, how far each of its targets is."""
    for slot in slots:
        known = {None: " (outcome not known yet)", slot.status: ""}
        yield f"slot {slot.id}: {slot.status}{known.get(slot.business_status, f' ({slot.business_status})')}"
        for cell in slot.cells:
            yield f"  {cell.target_id}: {cell.status}{_brought(cell)}{f': {cell.error}' if cell.error else ''}"


def _brought(cell: "CellStory") -> str:
    if cell.work_id:
        return f", work {cell.work_id}"
    return f", {cell.stored_count} new" if cell.stored_count else ""


def delivery_line(delivery: "DeliveryStory") -> str:
    """Where one promise stands: what the receiver calls it, or what went wrong and when it is tried again."""
    told = f"delivery of {delivery.work_id} to {delivery.route}: {delivery.status}"
    if delivery.remote_id:
        told += f", there as {delivery.remote_id}"
    if delivery.error:
        told += f", attempt {delivery.attempts} failed: {delivery.error}"
    if delivery.next_attempt_at is not None:
        told += f", due {delivery.next_attempt_at}"
    return told


def told(result: "Played") -> None:
    """What a round of the demo did."""
    for line in slot_lines(result.story.slots):
        click.echo(line)
    for each in result.story.deliveries:
        click.echo(f"{delivery_line(each)}, arrived {result.arrived(each.route, each.key)}x")
    for path in result.story.files:
        click.echo(f"file {path}")
    click.echo(f"the daemon left ({result.exit_reason}) after {result.duration_ms / 1000:.1f} s")
    click.echo(f"everything is in {result.directory}; its log is daemon.log, its ledger {result.ledger.name}")
