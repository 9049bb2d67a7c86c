"""A command that ends in an error of which nobody thought."""

import click


@click.command()
@click.option("--word", default="")
def command(word: str) -> None:
    raise KeyError(f"https://me:{word}@host/?token={word}")
