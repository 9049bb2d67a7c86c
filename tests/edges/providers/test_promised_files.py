"""What was promised is what arrives: under one key never two contents, whatever somebody does to a file meanwhile."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pixivflow.delivery.intents import frozen_payload
from pixivflow.delivery.model import Accepted, ErrorClass, PermanentFailure
from pixivflow.delivery.payload import frozen, read
from pixivflow.ids import RouteName
from pixivflow.providers import files
from pixivflow.providers.bodies import LocalFault
from pixivflow.providers.files import PIECE_BYTES, Passing, size_on_disk
from tests.edges.providers.receivers import answering, receiving
from tests.edges.providers.sending import attempted, gateway, of_files, pages, submissions
from tests.fixtures.deliveries import KEY
from tests.fixtures.works import a_file, a_work, an_occasion

CONTENT = b"\x89PNG\r\n\x1a\n" + b"x" * 50


def by_reference(url: str) -> Any:
    return gateway(url, media_transport="reference")


def by_value(url: str) -> Any:
    return gateway(url, media_transport="base64")


KINDS = [submissions, by_reference, by_value]


def flipped(path: str) -> None:
    os.unlink(path)
    Path(path).write_bytes(CONTENT[:-1] + b"y")


def cut(path: str) -> None:
    os.truncate(path, 10)


def linked(path: str) -> None:
    os.rename(path, path + ".moved")
    os.symlink(path + ".moved", path)


def promised(path: str) -> Any:
    return of_files(path, checksums={path: hashlib.sha256(CONTENT).hexdigest()})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("act", "why"),
    [
        (flipped, "1.png has changed since it was downloaded"),
        (cut, "1.png has changed since it was downloaded"),
        (linked, "1.png is gone"),
    ],
)
async def test_a_file_that_is_not_what_was_promised_is_not_sent(
    tmp_path: Path, kind: Any, act: Callable[[str], None], why: str
) -> None:
    [path] = pages(tmp_path, "1.png", content=CONTENT)
    row = promised(path)
    act(path)
    async with receiving(answering()) as [receiver]:
        ack = await attempted(row, kind(receiver.url()))
    assert isinstance(ack, PermanentFailure)
    assert (ack.error, ack.error_class, ack.answer_unknown) == (why, ErrorClass.INVALID_PAYLOAD, False)
    assert receiver.lines == 0


@pytest.mark.parametrize("kind", KINDS)
async def test_a_file_that_is_what_was_promised_is_sent(tmp_path: Path, kind: Any) -> None:
    [path] = pages(tmp_path, "1.png", content=CONTENT)
    async with receiving(answering()) as [receiver]:
        assert isinstance(await attempted(promised(path), kind(receiver.url())), Accepted)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_promise_of_an_earlier_program_is_kept_with_whatever_is_there(tmp_path: Path, kind: Any) -> None:
    [path] = pages(tmp_path, "1.png", content=CONTENT)
    row = of_files(path)
    assert "checksums" not in row.payload_json
    flipped(path)
    async with receiving(answering()) as [receiver]:
        assert isinstance(await attempted(row, kind(receiver.url())), Accepted)


def test_a_promise_knows_what_its_files_hold(tmp_path: Path) -> None:
    first, second = pages(tmp_path, "1.png", "2.png")
    work = a_work(artifacts=(a_file(first, checksum="ab" * 32), a_file(second)))
    payload = frozen_payload(frozen(work, an_occasion(), size_on_disk), RouteName("a"), KEY)
    assert read(payload).checksums == {first: "ab" * 32}


def test_the_last_bytes_of_a_file_that_changes_while_it_is_sent_do_not_leave(tmp_path: Path) -> None:
    path, size = tmp_path / "1.png", PIECE_BYTES + 10
    path.write_bytes(bytes(size))
    passing = Passing(str(path), size, hashlib.sha256(bytes(size)).hexdigest())
    assert passing.piece(0, PIECE_BYTES) == bytes(PIECE_BYTES)
    path.write_bytes(b"1" * size)
    with pytest.raises(LocalFault, match=r"1\.png has changed while it was sent"):
        passing.piece(PIECE_BYTES, 10)


def test_a_link_is_no_file(tmp_path: Path) -> None:
    [path] = pages(tmp_path, "1.png")
    linked(path)
    assert size_on_disk(path) is None
    with pytest.raises(LocalFault, match=r"1\.png is gone"):
        files.piece(path, 0, 1, 1)
