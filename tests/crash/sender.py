"""One attempt over the wire. It reads the answer, says `GOT` in the same breath, and is not interrupted in between."""

import contextlib
import json
import os
import time
from dataclasses import dataclass
from typing import Any

import trio


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What became of one attempt: the receiver's words, or None with `sent` telling whether any byte may have left."""

    words: dict[str, Any] | None
    sent: bool = True
    error: str = ""


async def send(host: str, port: int, head: dict[str, Any], body: bytes, timeout_ms: int) -> Heard:
    """Send one request and hear what comes back. Errors: none; an attempt that fails is an answer too."""
    sent = False
    whole = {**head, "sender": os.getpid(), "begun": time.monotonic_ns(), "length": len(body)}
    try:
        with trio.fail_after(timeout_ms / 1000):
            async with await trio.open_tcp_stream(host, port) as stream:
                sent = True
                await stream.send_all(json.dumps(whole).encode() + b"\n")
                await stream.send_all(body)
                return _read(stream, await _line(stream))
    except (OSError, trio.BrokenResourceError, trio.TooSlowError) as error:
        return Heard(words=None, sent=sent, error=repr(error))


async def _line(stream: trio.SocketStream) -> bytes:
    heard = b""
    while not heard.endswith(b"\n"):
        more = await stream.receive_some(65_536)
        if not more:
            return b""
        heard += more
    return heard


def _read(stream: trio.SocketStream, line: bytes) -> Heard:
    if not line:
        return Heard(words=None, error="the connection was closed without an answer")
    with contextlib.suppress(OSError):
        os.write(stream.socket.fileno(), b"GOT\n")
    return Heard(words=json.loads(line))
