"""Files are whole or not at all: what has no final name is named by a row that counts no more of it than there is.

a `.part` in the end     named by a staged row
a staged row             its part, where it is there, has at least the bytes that the row counts; with a hash, just
                         those bytes
a final row              its file, where it is there, holds what the row says
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from tests.promises.evidence import Evidence, Row, rows

PART = re.compile(r"\.part-")
FILES = "SELECT pixiv_id, page, file_path, part_path, bytes_done, size, sha256, state FROM download_files"


def judge(evidence: Evidence) -> list[str]:
    """Every violation, once the last process has ended in order. Nothing is said where no folder of files is known."""
    if evidence.files is None:
        return []
    return [*counted(evidence), *_orphans(evidence.files, _known(evidence.ledger))]


def counted(evidence: Evidence) -> list[str]:
    """What holds at any instant, also right after a kill."""
    return [fault for row in _known(evidence.ledger) for fault in _faults(row)]


def _known(ledger: Path) -> list[Row]:
    there = rows(ledger, "SELECT 1 FROM sqlite_schema WHERE name = 'download_files'")
    return rows(ledger, FILES) if there else []


def _orphans(files: Path, known: list[Row]) -> Iterator[str]:
    named = {row["part_path"] for row in known if row["state"] == "staged"}
    for path in sorted(files.rglob("*")):
        if PART.match(path.name) and f"{path}" not in named:
            yield f"{path.name} is named by no row"


def _faults(row: Row) -> Iterator[str]:
    told = f"page {row['page']} of {row['pixiv_id']}"
    try:
        content = Path(row["part_path"] or row["file_path"]).read_bytes()
    except FileNotFoundError:
        return
    if row["state"] == "staged" and len(content) < row["bytes_done"]:
        yield f"{told} counts {row['bytes_done']} bytes of a part of {len(content)}"
    elif row["sha256"] is not None and hashlib.sha256(content).hexdigest() != row["sha256"]:
        yield f"{told} is not what its row says"
