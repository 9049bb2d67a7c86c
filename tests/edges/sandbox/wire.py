"""A client that writes bytes and tells what came back, also when that is no proper answer."""

from dataclasses import dataclass, field
from typing import Final, Literal

import msgspec
import trio

from pixivflow.sandbox.serve import Sandbox
from tests.fixtures.sandboxes import FORM, client_time, form

QUIET_S: Final = 0.1
"""How long nothing must come before a connection counts as stalled."""


@dataclass(frozen=True, slots=True)
class Heard:
    """`ended`: how the connection was left. `open`: a whole answer came, and the connection is as it was."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    ended: Literal["open", "closed", "reset", "stalled", "refused"] = "open"


async def heard(
    port: int,
    method: str,
    target: str,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    *,
    stalls_at: int | None = None,
) -> Heard:
    """What one request on a connection of its own brings.

    `stalls_at`: how much of the body comes of an answer that never ends, -1 where not even its head does.
    """
    length = {"content-length": str(len(body))} if body else {}
    lines = {"host": f"127.0.0.1:{port}", **length, **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    try:
        stream = await trio.open_tcp_stream("127.0.0.1", port)
    except OSError:
        return Heard(ended="refused")
    async with stream:
        await stream.send_all(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body)
        return await answer_on(stream, stalls_at)


async def answer_on(stream: trio.SocketStream, stalls_at: int | None = None) -> Heard:
    """Read one answer from a connection that stays open."""
    data, ended = b"", "open"
    while not is_whole(data):
        is_there = stalls_at is not None and len(data.partition(b"\r\n\r\n")[2]) >= stalls_at
        with trio.move_on_after(QUIET_S if is_there else 30) as waited:
            try:
                piece = await stream.receive_some(65_536)
            except trio.BrokenResourceError:
                ended = "reset"
                break
        if waited.cancelled_caught:
            ended = "stalled"
            break
        if not piece:
            ended = "closed"
            break
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    return Heard(*parsed(head), rest, ended)  # type: ignore[arg-type]


def parsed(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    return int(first.split()[1]) if first else 0, {name.lower(): value for name, _, value in pairs}


def is_whole(data: bytes) -> bool:
    head, end, body = data.partition(b"\r\n\r\n")
    status, headers = parsed(head) if end else (0, {})
    return bool(end) and (status in (204, 304) or len(body) >= int(headers.get("content-length", "0")))


async def told(sandbox: Sandbox, command: str, value: object) -> Heard:
    """Tell the running sandbox something; it must obey."""
    heard_ = await heard(sandbox.port, "POST", f"/_ctl{command}", msgspec.json.encode(value))
    assert heard_.status == 200, heard_.body
    return heard_


async def logged_in(sandbox: Sandbox) -> dict[str, str]:
    """A header with a good token."""
    grant = await heard(sandbox.port, "POST", "/oauth/auth/token", form(), {**FORM, **client_time()})
    return {"authorization": f"Bearer {msgspec.json.decode(grant.body)['access_token']}"}
