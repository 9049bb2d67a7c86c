"""How answers leave: one JSON document, or lines for people."""

import json

import click


def document(content: object) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2))
