"""`pixivflow sandbox`: a Pixiv and a receiver that never leave this machine."""

from pathlib import Path
from typing import Any

import click


@click.command("sandbox", help="Serve a Pixiv and a receiver for tests on loopback; prints READY <port>.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Plain HTTP; 0 lets the system choose.")
@click.option("--tls-port", type=click.IntRange(0, 65_535), default=None, help="TLS under a CA of its own.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed is the same world.")
@click.option("--works", type=click.IntRange(1, 1_000_000), default=2_000, show_default=True)
@click.option("--fixture", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Works of your own.")
@click.option("--clock", type=click.Choice(["real", "manual"]), default="real", show_default=True)
@click.option("--token-ttl", "token_ttl_s", type=click.IntRange(1), default=3_600, help="Seconds.")
@click.option("--page-size", type=click.IntRange(1, 1_000), default=30, show_default=True)
@click.option("--latency-ms", type=click.IntRange(0), default=0, help="How long every answer waits.")
@click.option("--strict/--lenient", default=True, help="Whether a login must carry a true client hash.")
@click.option("--sink-secret", default=None, help="What deliveries to the receiver must be signed with.")
def command(**options: Any) -> None:
    from pixivflow.sandbox.options import Options
    from pixivflow.sandbox.serve import main

    main(Options(**options))
