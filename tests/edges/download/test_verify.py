"""Whole pictures of every format pass, and not one byte less than whole."""

import io
from pathlib import Path
from random import Random

import pytest
from PIL import Image

from pixivflow.download.verify import Spoiled, picture

FORMATS = ("jpeg", "png", "gif", "webp")


def made(name: str) -> bytes:
    """A picture with enough in it that it has a middle."""
    written = io.BytesIO()
    Image.frombytes("L", (64, 64), Random(1).randbytes(64 * 64)).save(written, name)
    return written.getvalue()


@pytest.mark.parametrize("name", FORMATS)
def test_a_whole_picture_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    path = tmp_path / "named.jpg"
    path.write_bytes(made(name))
    found = picture(path)
    assert (found.format, found.mime, found.size) == (name, f"image/{name}", len(made(name)))
    assert found.extension(".jpg") == (".jpg" if name == "jpeg" else f".{name}")
    assert found.extension(".jpeg") == (".jpeg" if name == "jpeg" else f".{name}")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("left", [0.1, 0.5, 0.99])
def test_a_picture_that_was_cut_is_refused(name: str, left: float, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(made(name)[: int(len(made(name)) * left)])
    with pytest.raises(Spoiled) as raised:
        picture(path)
    assert raised.value.reason == "truncated"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html></html>", "bad_content"),
        (b"\xff\xd8\xff" + bytes(100) + b"\xff\xd9", "bad_content"),
        (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\0IEND\xaeB`\x82", "bad_content"),
        (b"GIF89a;", "bad_content"),
        (b"RIFF\x04\0\0\0WEBP", "bad_content"),
        (b"\xff\xd8", "bad_content"),
    ],
)
def test_what_only_looks_like_a_picture_is_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(content)
    with pytest.raises(Spoiled) as raised:
        picture(path)
    assert raised.value.reason == reason


def test_a_png_with_a_broken_checksum_is_refused(tmp_path: Path) -> None:
    broken = bytearray(made("png"))
    broken[len(broken) // 2] ^= 0xFF
    path = tmp_path / "x.png"
    path.write_bytes(broken)
    with pytest.raises(Spoiled):
        picture(path)


def test_a_picture_of_many_pixels_is_no_bomb_here(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    Image.new("1", (20_000, 20_000)).save(path)
    assert picture(path).format == "png"
