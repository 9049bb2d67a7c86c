"""How a sandbox is started. Everything else is changed while it runs, over its control routes."""

from pathlib import Path
from typing import Literal

import msgspec


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says; the defaults are those of the command."""

    port: int = 0
    """The plain port on loopback; 0 lets the system choose."""
    tls_port: int | None = None
    """The port that speaks TLS; 0 lets the system choose, None leaves it out."""
    seed: int = 1
    works: int = 2_000
    """How many illustrations are made; the named blocks are there even when fewer are asked for."""
    fixture: Path | None = None
    """A JSON file whose items are added to the generated ones, or replace them by id."""
    clock: Literal["real", "manual"] = "real"
    token_ttl_s: int = 3_600
    page_size: int = 30
    latency_ms: int = 0
    """How long every answer but those of the control routes waits before its head."""
    strict: bool = True
    """Whether a refresh must carry a true client time and hash."""
    real_urls: bool = False
    """Whether answers name the real hosts also on the plain port; on the TLS port they always do."""
    sink_secret: str | None = None
    """The secret that deliveries to the sink must be signed with, if any."""
