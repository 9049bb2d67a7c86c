"""TLS for the real names: an authority made at the start, whose key is never written anywhere."""

import contextlib
import ssl
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pixivflow.sandbox.certificates import authority, server
from pixivflow.sandbox.hosts import REAL

NAMES: Final = (*REAL, "localhost", "127.0.0.1")


@contextlib.contextmanager
def credentials() -> Iterator[tuple[ssl.SSLContext, Path]]:
    """A server's context, and the file that a client has to trust; the file goes when the sandbox does.

    The server's own key passes through a file for a moment, because OpenSSL takes it from nowhere else.
    """
    now_s = int(time.time())
    issuer = authority("pixivflow sandbox", now_s)
    own = server(issuer, NAMES, now_s)
    with tempfile.TemporaryDirectory(prefix="pixivflow-sandbox-") as folder:
        chain = Path(folder) / "server.pem"
        chain.touch(mode=0o600)
        chain.write_text(own.key_pem + own.pem, "ascii")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        chain.unlink()
        trusted = Path(folder) / "ca.pem"
        trusted.write_text(issuer.pem, "ascii")
        yield context, trusted
