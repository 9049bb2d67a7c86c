"""Is the sandbox fast enough never to be what a measurement measures?

    python -m bench.sandbox [--json] [--seconds S]

A page of a search (30 works, some 37 KB) and a picture (40 KB) are asked for in turn from the sandbox and from the same
two routes in Quart, which holds the very bytes ready and checks the very header. Each server is a process of its own on
one core, the clients are on another: 8 connections that send together and read in turn. Rounds alternate, each is
compared with the one before it, and the median of these ratios counts, so that a neighbour's noise meets both.

    list_vs_quart      list replies per second that one core gives out, against Quart's; at least 3
    image_vs_quart     the same for pictures
    *_per_core_s       the seconds are those that the server was at work, so that neither the clients nor others count
    *_per_s, *_p99_ms  by the clock: what these clients saw; from the sending of eight requests to the end of one answer
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import perf_counter
from urllib.parse import quote

import trio

from pixivflow.sandbox.message import request
from pixivflow.sandbox.options import Options
from pixivflow.sandbox.serve import running_sandbox
from pixivflow.sandbox.service import Service

OPTIONS = Options(clock="manual", real_urls=True)
SEARCH = f"/app/v1/search/illust?word={quote('オリジナル')}&search_target=partial_match_for_tags&sort=date_desc"
BEARER = {"authorization": "Bearer at-000001"}
REFERER = {"referer": "https://app-api.pixiv.net/"}
CONNECTIONS = 8
NAMES = ("sandbox", "quart")
ROUND_S = 0.5


def prepared(service: Service) -> tuple[bytes, str, bytes]:
    """A page of the search, the address of its first picture, and that picture. Issues the token that clients send."""
    tokens, now = service.state.tokens, service.state.now
    assert tokens.issue(now + 10**12) == BEARER["authorization"].removeprefix("Bearer ")
    page = ask(service, SEARCH, BEARER)
    works = json.loads(page)["illusts"]
    address = next(filter(None, (work["meta_single_page"].get("original_image_url") for work in works)))
    path = "/img" + address.removeprefix("https://i.pximg.net")
    return page, path, ask(service, path, REFERER)


def ask(service: Service, target: str, headers: dict[str, str]) -> bytes:
    asked = request("GET", target, headers)
    place, record = service.arrive(asked, 0.0)
    reply = service.answer(asked, place, record, 0.0).reply
    assert reply.status == 200
    return reply.body


# --- the two servers, each in a process of its own ---


async def serve_sandbox() -> None:
    async with running_sandbox(OPTIONS) as sandbox:
        prepared(sandbox.service)
        print(sandbox.port, flush=True)
        await trio.sleep_forever()


async def serve_quart() -> None:
    from hypercorn.config import Config
    from hypercorn.trio import serve
    from quart import Response
    from quart import request as asked
    from quart_trio import QuartTrio

    page, path, picture = prepared(Service(OPTIONS, 0))
    app = QuartTrio(__name__)

    @app.get("/app/v1/search/illust")
    async def search() -> Response:
        if asked.headers.get("Authorization") != BEARER["authorization"] or not asked.args.get("word"):
            return Response(b"", 400)
        return Response(page, content_type="application/json; charset=UTF-8")

    @app.get(path)
    async def image() -> Response:
        if not asked.headers.get("Referer", "").startswith("https://app-api.pixiv.net/"):
            return Response(b"", 403)
        return Response(picture, content_type="image/jpeg")

    config = Config()
    config.bind, config.errorlog = ["127.0.0.1:0"], None
    async with trio.open_nursery() as nursery:
        (bound,) = await nursery.start(serve, app, config)
        print(bound.rpartition(":")[2], flush=True)


# --- the clients ---


@contextmanager
def server(name: str, core: int | None) -> Iterator[tuple[int, int]]:
    """The process of a server and its port."""
    command = [sys.executable, "-m", "bench.sandbox", "--serve", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if core is not None:
                os.sched_setaffinity(process.pid, {core})
            assert process.stdout is not None
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()


def heads(target: str, headers: dict[str, str]) -> bytes:
    lines = {"host": "127.0.0.1", "accept": "*/*", "user-agent": "bench", **headers}
    head = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items())]
    return "\r\n".join([*head, "", ""]).encode()


class Load:
    """Eight connections to one server."""

    def __init__(self, pid: int, port: int, wanted: bytes, sent: bytes) -> None:
        self._pid, self._wanted, self._sent = pid, wanted, sent
        self._connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
        self._buffer = bytearray(len(wanted) + 4_096)
        self.waits: list[float] = []

    def round(self, seconds: float) -> tuple[float, float]:
        """Replies per second of the server's work, and of the clock's. Errors: `AssertionError` for a wrong reply."""
        count, worked, started = 0, worked_s(self._pid), perf_counter()
        while (began := perf_counter()) < started + seconds:
            for connection in self._connections:
                connection.sendall(self._sent)
            for connection in self._connections:
                self._read(connection)
                self.waits.append(perf_counter() - began)
                count += 1
        return count / (worked_s(self._pid) - worked), count / (perf_counter() - started)

    def _read(self, connection: socket.socket) -> None:
        view, got, end = memoryview(self._buffer), 0, -1
        while end < 0 or got < end + 4 + len(self._wanted):
            size = connection.recv_into(view[got:])
            assert size, "the server closed"
            got += size
            if end < 0:
                end = self._buffer.find(b"\r\n\r\n", 0, got)
        assert self._buffer.startswith(b"HTTP/1.1 200")
        assert view[end + 4 : got] == self._wanted

    def close(self) -> None:
        for connection in self._connections:
            connection.close()


def worked_s(pid: int) -> float:
    """The seconds that a process of one thread has been at work, to the nanosecond; without Linux, the clock's."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    return perf_counter()


def measure(seconds: float) -> dict[str, object]:
    page, path, picture = prepared(Service(OPTIONS, 0))
    kinds = {"list": (page, heads(SEARCH, BEARER)), "image": (picture, heads(path, REFERER))}
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    with ExitStack() as stack:
        ports = {name: stack.enter_context(server(name, cores[0] if cores else None)) for name in NAMES}
        if len(cores) > 1:
            os.sched_setaffinity(0, set(cores[1:]))
        loads = {(kind, name): Load(*ports[name], *kinds[kind]) for kind in kinds for name in ports}
        rates: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in loads}
        for turn in range(max(2, round(seconds / ROUND_S)) + 1):
            for key, load in loads.items():
                both = load.round(ROUND_S)
                if turn > 0:  # the first is a warm-up
                    rates[key].append(both)
        for load in loads.values():
            load.close()
    return reported(loads, rates, {"list": len(page), "image": len(picture)}, len(cores))


def reported(
    loads: dict[tuple[str, str], Load],
    rates: dict[tuple[str, str], list[tuple[float, float]]],
    sizes: dict[str, int],
    cores: int,
) -> dict[str, object]:
    found: dict[str, object] = {}
    for kind, size in sizes.items():
        medians = {name: [statistics.median(each) for each in zip(*rates[kind, name], strict=True)] for name in NAMES}
        for name, (worked, clock) in medians.items():
            found[f"{kind}_{name}_per_core_s"], found[f"{kind}_{name}_per_s"] = round(worked), round(clock)
        found[f"{kind}_sandbox_mb_per_core_s"] = round(medians["sandbox"][0] * size / 1e6)
        pairs = zip(rates[kind, "sandbox"], rates[kind, "quart"], strict=True)
        found[f"{kind}_vs_quart"] = round(statistics.median(ours[0] / theirs[0] for ours, theirs in pairs), 2)
        waits = statistics.quantiles(loads[kind, "sandbox"].waits, n=100)
        found[f"{kind}_p50_ms"], found[f"{kind}_p99_ms"] = round(waits[49] * 1e3, 2), round(waits[98] * 1e3, 2)
    return {**found, "list_bytes": sizes["list"], "image_bytes": sizes["image"], "cores": cores}


def main() -> None:
    parser = argparse.ArgumentParser(description="The sandbox beside the same routes in Quart.")
    parser.add_argument("--json", action="store_true", help="one JSON object and nothing else")
    parser.add_argument("--seconds", type=float, default=10, help="how long each route of each server is asked")
    parser.add_argument("--serve", choices=["sandbox", "quart"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        trio.run(serve_sandbox if options.serve == "sandbox" else serve_quart)
        return
    result = measure(options.seconds)
    if options.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print(f"{key:30} {value}")


if __name__ == "__main__":
    main()
