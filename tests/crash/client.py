"""Asks a daemon for slots, as a trigger would, and writes down each acceptance that it has read."""

import contextlib
import json
import socket
from collections.abc import Iterable

from tests.crash.journal import Journal

PATIENCE_S = 30


def ask(port: int, slot: str) -> str:
    """The daemon's word about `slot`: `ACCEPTED` or `REFUSED`; empty when none came, so that nobody knows."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
        connection.sendall(json.dumps({"slot": slot}).encode() + b"\n")
        with connection.makefile("r") as answers:
            line = answers.readline()
        if line.endswith("\n"):
            word, named = line.split()
            return word if named == slot else ""
    return ""


def ask_for_all(port: int, slots: Iterable[str], journal: Journal) -> list[str]:
    """Ask for one slot after the other until the daemon is gone. Those that were asked for."""
    asked = []
    for slot in slots:
        asked.append(slot)
        if ask(port, slot) != "ACCEPTED":
            break
        journal.say("accepted", slot=slot)
    return asked
