"""`python -m tests.crash.receiver --journal FILE --script FILE`: the other end of the wire, strict and not always kind.

    sender: one JSON line (route key sender begun slot target work length), then `length` bytes of body
    receiver: one JSON line (answer, and what belongs to it)
    sender: GOT

Each arrival is on the disk, numbered, before anything is answered; how it was answered, and whether `GOT` came back, is
a second line. The receiver remembers what it took for as long as it lives, by key, and answers a known key in one of
the ways of real receivers: as a replay, as a duplicate that names our key, as a conflict.
"""

import argparse
import hashlib
import json
import socketserver
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, cast

from tests.crash.faults import Script, read_script
from tests.crash.journal import Journal

NAMED = ("route", "key", "sender", "begun", "slot", "target", "work")
KNOWN = ("idempotent_replay", "duplicate_existing", "conflict")
TAKING = ("accept", "lost", "hang", "late", "slow")
NOT_TAKING = ("refuse", "hold", "early")
SLOW_S = 0.5
PATIENCE_S = 60


class Book:
    """What this receiver has seen: every arrival in one order, the keys it took, the keys it has answered."""

    def __init__(self, script: Script, journal: Journal) -> None:
        self._script, self._journal = script, journal
        self.late_s = script.late_s
        self._lock = threading.Condition()
        self._count = 0
        self._taken: dict[str, str] = {}
        self._seen: dict[tuple[str, ...], int] = {}
        self._arrived: dict[str, int] = {}
        self._answered: dict[str, int] = {}

    def enter(self, head: dict[str, Any], digest: str) -> tuple[int, str, dict[str, Any]]:
        """Write the arrival down. Its number, the act, and the answer if there will be one."""
        cell = (head["route"], head["slot"], head["target"])
        with self._lock:
            self._count += 1
            before = self._seen.get(cell, 0)
            self._seen[cell] = before + 1
            act = self._script.act(*cell, before)
            known = head["key"] in self._taken
            if known and act in NOT_TAKING:
                act = "accept"
            answer = self._answer(act, head["key"], known=known, number=self._count)
            if act in TAKING:
                self._taken.setdefault(head["key"], f"remote-{self._count}")
            named = {name: head[name] for name in NAMED}
            taken = head["key"] in self._taken
            self._journal.say("arrival", n=self._count, digest=digest, taken=taken, **named)
            self._arrived[head["key"]] = self._arrived.get(head["key"], 0) + 1
            self._lock.notify_all()
            return self._count, act, answer

    def _answer(self, act: str, key: str, *, known: bool, number: int) -> dict[str, Any]:
        words = (
            f"for Bearer {self._script.secret} at https://me:{self._script.secret}@r.test/?token={self._script.secret}"
        )
        if act in ("busy", "hold", "early"):
            return {"answer": "unavailable", "error": f"busy {words}"}
        if act == "refuse":
            return {"answer": "refused", "error": f"never {words}"}
        if not known:
            return {"answer": "accepted", "remote_id": f"remote-{number}"}
        return {"answer": KNOWN[number % len(KNOWN)], "remote_id": self._taken[key], "matched_key": key, "error": words}

    def wait(self, act: str, key: str) -> None:
        """Until this act may answer."""
        with self._lock:
            if act in ("hold", "slow"):
                self._lock.wait_for(lambda: self._answered.get(key, 0) > 0, PATIENCE_S)
            if act == "early":
                self._lock.wait_for(lambda: self._arrived[key] > 1, PATIENCE_S)
            if act == "slow":
                self._lock.wait_for(lambda: self._arrived[key] > 2, SLOW_S)

    def leave(self, n: int, key: str, answer: str, *, delivered: bool) -> None:
        """Write down how the arrival ended."""
        with self._lock:
            self._journal.say("answered", n=n, answer=answer, delivered=delivered)
            self._answered[key] = self._answered.get(key, 0) + delivered
            self._lock.notify_all()


class Handler(socketserver.StreamRequestHandler):
    """One connection, one request."""

    timeout = PATIENCE_S

    def handle(self) -> None:
        try:
            head, body = _request(cast("BinaryIO", self.rfile))
        except (OSError, ValueError, EOFError):
            return  # never a whole request, so it never arrived
        book = cast("Receiver", self.server).book
        n, act, answer = book.enter(head, hashlib.sha256(body).hexdigest())
        delivered = act not in ("lost", "mute") and self._told(book, act, head["key"], answer)
        book.leave(n, head["key"], answer["answer"] if delivered else "", delivered=delivered)

    def _told(self, book: Book, act: str, key: str, answer: dict[str, Any]) -> bool:
        try:
            if act == "hang":
                self.rfile.read(1)  # until the sender gives up
                return False
            if act == "late":
                time.sleep(book.late_s)
            book.wait(act, key)
            self.wfile.write(json.dumps(answer).encode() + b"\n")
            return self.rfile.readline() == b"GOT\n"
        except OSError:
            return False


def _request(stream: BinaryIO) -> tuple[dict[str, Any], bytes]:
    head = json.loads(stream.readline(65_536))
    body = stream.read(head["length"])
    if len(body) != head["length"]:
        raise EOFError
    return head, body


class Receiver(socketserver.ThreadingTCPServer):
    """Listens on loopback; every connection has a thread."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, book: Book) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.book = book


def main() -> None:
    """Serve until killed; says READY and its port once it listens."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--script", type=Path, required=True)
    told = parser.parse_args()
    with Receiver(Book(read_script(told.script), Journal(told.journal, durable=True))) as server:
        print(f"READY {server.server_address[1]}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
