"""No secret in a row, a log line or an error: a planted credential turns up in no file and no output.

The ledger is searched as bytes, with the files beside it, so that what was written and deleted again counts too.
"""

from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote

from tests.promises.evidence import Evidence


def judge(evidence: Evidence) -> list[str]:
    """Where a planted secret was found, plain or in a coat that anybody takes off."""
    return [
        f"{place} holds planted secret number {number}"
        for number, secret in enumerate(evidence.secrets, start=1)
        for place, content in _places(evidence)
        if any(coat in content for coat in _coats(secret))
    ]


def _places(evidence: Evidence) -> Iterator[tuple[str, bytes]]:
    for path in sorted(evidence.ledger.parent.glob(evidence.ledger.name + "*")):
        yield f"the file {path.name}", path.read_bytes()
    for name, text in evidence.texts.items():
        yield f"the output {name}", text.encode()


def _coats(secret: str) -> set[bytes]:
    return {secret.encode(), quote(secret, safe="").encode(), b64encode(secret.encode()).rstrip(b"=")}
