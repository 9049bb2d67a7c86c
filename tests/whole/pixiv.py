"""The sandbox as a process of its own, and what a test tells it and asks of it."""

from typing import Any

from tests.crash.process import Process
from tests.whole.client import call


class Pixiv:
    """The control routes of the sandbox that listens on `port`."""

    def __init__(self, port: int) -> None:
        self.port = port

    @classmethod
    def of(cls, process: Process) -> "Pixiv":
        """The one that runs as `process`."""
        assert process.port is not None, "the sandbox did not start"
        return cls(process.port)

    def tell(self, path: str, body: object) -> None:
        """Change something. Errors: `AssertionError` with what the sandbox has against it."""
        answer = call(self.port, "POST", f"/_ctl/{path}", body)
        assert answer.status == 200, answer

    def hold(self, route: str) -> None:
        """Let everything of that glob wait."""
        self.tell("gate", {"route": route, "action": "hold"})

    def release(self, route: str) -> None:
        """Let it go on."""
        self.tell("gate", {"route": route, "action": "release"})

    def calm(self) -> None:
        """Take every fault away."""
        self.tell("preset", {"name": "calm"})

    def requests(self, kind: str) -> list[dict[str, Any]]:
        """What came of that kind: api, oauth, img, sink."""
        found: list[dict[str, Any]] = call(self.port, "GET", f"/_ctl/requests?kind={kind}").body["requests"]
        return found

    def lists_asked_for(self) -> int:
        """How often somebody looked for works, in searches and rankings."""
        return sum("/search/" in each["path"] or "/ranking" in each["path"] for each in self.requests("api"))

    def receipts(self) -> list[dict[str, Any]]:
        """Every key that arrived at the receiver."""
        found: list[dict[str, Any]] = call(self.port, "GET", "/sink/receipts").body["receipts"]
        return found
