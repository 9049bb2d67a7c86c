"""Pictures made of nothing open in an image library, and do not open when a part of them is missing."""

import io
import zipfile
import zlib
from typing import get_args

import pytest
from PIL import Image, UnidentifiedImageError

from pixivflow.sandbox.pictures import Format, noise, picture
from tests.fixtures.sandboxes import Asker

FORMS: tuple[Format, ...] = get_args(Format)
EVERY_SIZE = [(1, 1), (16, 16), (17, 31), (640, 900), (1_200, 1_600), (3_000, 4_000)]


def opened(data: bytes) -> Image.Image:
    found = Image.open(io.BytesIO(data))
    found.load()
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", EVERY_SIZE)
def test_a_picture_opens_and_is_of_one_colour(form: Format, size: tuple[int, int]) -> None:
    found = opened(picture(form, *size, 40_000, "a mark"))
    assert found.format == {"jpg": "JPEG"}.get(form, form.upper())
    assert found.size == (size if form != "webp" else (1, 1))
    assert found.convert("RGB").getcolors(1) is not None


@pytest.mark.parametrize("form", ["jpg", "png", "gif"])
@pytest.mark.parametrize("size", [40_000, 40_001, 40_255, 65_800, 131_073, 131_074, 131_075, 131_076, 131_077, 200_003])
def test_a_picture_has_exactly_the_asked_number_of_bytes(form: Format, size: int) -> None:
    data = picture(form, 300, 200, size, "a mark")
    assert len(data) == size
    opened(data)


@pytest.mark.parametrize("form", FORMS)
def test_every_number_of_bytes_can_be_had(form: Format) -> None:
    for size in range(2_000, 2_600):
        data = picture(form, 8, 8, size, "a mark")
        assert 0 <= size - len(data) <= (1 if form == "webp" else 0)
        opened(data)


def test_a_mark_gives_its_own_picture_and_always_the_same() -> None:
    one, same, other = (picture("png", 10, 10, 9_000, mark) for mark in ("1/1/0", "1/1/0", "1/1/1"))
    assert one == same != other


@pytest.mark.case("sandbox", 10)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.99])
def test_a_picture_that_was_cut_off_opens_in_no_decoder(form: Format, part: float) -> None:
    data = picture(form, 1_200, 1_600, 40_000, "a mark")
    opened(data)
    cut = data[: int(len(data) * part)]
    if form == "webp" and part > 0.5:
        assert len(cut) - 8 != int.from_bytes(data[4:8], "little")  # a library reads it, its length says it is cut
        return
    with pytest.raises((OSError, UnidentifiedImageError, SyntaxError)):
        opened(cut)


@pytest.mark.case("sandbox", 10)
def test_an_archive_that_was_cut_off_opens_nowhere(ask: Asker) -> None:
    told = ask.data("/v1/ugoira/metadata", illust_id=101_201)["ugoira_metadata"]
    data = ask.image(told["zip_urls"]["medium"]).body
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(data[:-100]))


def test_a_cut_picture_never_ends_as_a_whole_one_would() -> None:
    for form, end in (("jpg", b"\xff\xd9"), ("gif", b"\x3b")):
        data = picture(form, 64, 64, 60_000, "a mark")  # type: ignore[arg-type]
        assert data.endswith(end)
        assert data.count(end, 1_000, 55_000) == 0


def test_noise_cannot_be_compressed_and_is_as_long_as_asked() -> None:
    data = noise(60_000, "a mark")
    assert len(data) == 60_000
    assert len(zlib.compress(data)) > 55_000
    assert len(noise(200_000, "a mark")) == 200_000
