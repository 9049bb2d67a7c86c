"""Real pictures made of nothing: a flat colour in the asked size, padded with noise to the asked number of bytes.

The noise stands before the picture's own data and holds no end marker, so a file that was cut off can neither be
decoded nor taken for a whole one. No image library is needed: a flat JPEG is one block followed by zeros.
"""

import hashlib
import struct
import zlib
from collections.abc import Callable
from typing import Final, Literal, assert_never

Format = Literal["jpg", "png", "gif", "webp"]
MIME: Final[dict[str, str]] = {"jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp"}
END_MARKERS: Final = bytes.maketrans(b"\xff\x3b", b"\xfe\x3a")
NOISE: Final = 65_536  # longer noise repeats itself
SEGMENT: Final = 65_537  # what one JPEG comment can take, its marker and length included
CLEAR, END = 4, 5  # the words of GIF that begin and end a table of two colours
Pad = Callable[[int, str], bytes]
"""Makes padding that is so many bytes long out of a mark."""


def picture(form: Format, width: int, height: int, size: int, mark: str) -> bytes:
    """A picture of `width` x `height` that no other `mark` gives. It is `size` bytes long, or as short as can be."""
    colour = hashlib.sha256(mark.encode()).digest()[:3]
    match form:
        case "jpg":
            return _filled(*_jpeg(width, height, colour), size, mark, _comments)
        case "png":
            return _filled(*_png(width, height, colour), size, mark, _private_chunk)
        case "gif":
            return _filled(*_gif(width, height, colour), size, mark, _blocks)
        case "webp":
            return _webp(size, mark)
        case _:
            assert_never(form)


def noise(length: int, mark: str) -> bytes:
    """Bytes that no compression shortens, the same for the same mark, and free of the end markers of pictures."""
    block = hashlib.shake_128(mark.encode()).digest(min(length, NOISE)).translate(END_MARKERS)
    return (block * (length // NOISE + 1))[:length]


def _filled(head: bytes, tail: bytes, size: int, mark: str, pad: Pad) -> bytes:
    least = 12 + len(mark)  # enough for the frame of a padding in any of the formats, and to tell two pictures apart
    return head + pad(max(least, size - len(head) - len(tail)), mark) + tail


# --- JPEG ---


def _jpeg(width: int, height: int, colour: bytes) -> tuple[bytes, bytes]:
    tables = _segment(0xDB, b"\0" + bytes([8]) * 64)  # divisors of 8: a level of the colour is one step
    frame = struct.pack(">BHHB", 8, height, width, 3) + b"\x01\x22\0\x02\x11\0\x03\x11\0"
    levels = _segment(0xC4, b"\0" + bytes([1, 0, 0, 0, 8, *[0] * 11]) + bytes(range(9)))
    ends = _segment(0xC4, b"\x10" + bytes([1, *[0] * 15]) + b"\0")  # one word: nothing follows in this block
    scan = _segment(0xDA, b"\x03\x01\0\x02\0\x03\0\0\x3f\0") + _scan(width, height, colour)
    start = b"\xff\xd8" + _segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0")
    return start, tables + _segment(0xC0, frame) + levels + ends + scan + b"\xff\xd9"


def _segment(marker: int, payload: bytes | memoryview) -> bytes:
    return b"".join((struct.pack(">BBH", 0xFF, marker, len(payload) + 2), payload))


def _scan(width: int, height: int, colour: bytes) -> bytes:
    """The first unit of 16 x 16 carries the colour; every other says 'as before' twelve times, a zero bit each."""
    red, green, blue = colour
    luma = (299 * red + 587 * green + 114 * blue) // 1000
    chroma = [128 + (blue - luma) * 564 // 1000, 128 + (red - luma) * 713 // 1000]
    bits = _level(luma) + "0" + "00" * 3 + "".join(_level(max(0, min(255, part))) + "0" for part in chroma)
    units = ((width + 15) // 16) * ((height + 15) // 16)
    total = len(bits) + 12 * (units - 1)
    bits += "0" * (-len(bits) % 8)
    first = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    return first + bytes(max(0, (total + 7) // 8 - len(bits) // 8))


def _level(value: int) -> str:
    """The Huffman word of a colour level: how many bits it needs, then those bits."""
    step = value - 128
    width = abs(step).bit_length()
    if width == 0:
        return "0"
    return f"{0b10000 + width - 1:05b}" + f"{step if step > 0 else step + (1 << width) - 1:0{width}b}"


def _comments(length: int, mark: str) -> bytes:
    """JPEG comments of `length` bytes in all."""
    parts, payload, at = [], memoryview(noise(length, mark)), 0
    while length:
        part = length if length <= SEGMENT else SEGMENT - (4 if length - SEGMENT < 4 else 0)
        parts.append(_segment(0xFE, payload[at : at + part - 4]))
        length, at = length - part, at + part - 4
    return b"".join(parts)


# --- PNG ---


def _png(width: int, height: int, colour: bytes) -> tuple[bytes, bytes]:
    rows = bytes((width + 7) // 8 + 1) * height  # one bit a pixel, all of them the palette's only colour
    head = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 3, 0, 0, 0))
    return head + _chunk(b"PLTE", colour), _chunk(b"IDAT", zlib.compress(rows, 6)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload)) + kind + payload + struct.pack(">I", zlib.crc32(kind + payload))


def _private_chunk(length: int, mark: str) -> bytes:
    """One chunk that readers of PNG are told to skip: its name begins in lower case."""
    return _chunk(b"noIs", noise(length - 12, mark))


# --- GIF ---


def _gif(width: int, height: int, colour: bytes) -> tuple[bytes, bytes]:
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + colour + b"\0\0\0"
    image = b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02"
    return head, image + _sub_blocks(_run(width * height)) + b"\x3b"


def _run(pixels: int) -> bytes:
    """`pixels` times colour 0 in GIF's LZW: each word stands for one pixel more than the word before it.

    A word is as wide as the number of the table's next free place, which both sides count along.
    """
    words, free, length = [(CLEAR, 3)], 5, 1
    while pixels:
        taken = min(length, pixels)
        words.append((taken + 4 if taken > 1 else 0, free.bit_length()))
        pixels, length, free = pixels - taken, length + 1, free + 1
        if free == 4_095:
            words.append((CLEAR, 12))
            free, length = 5, 1
    words.append((END, free.bit_length()))
    bits = shift = 0
    for word, width in words:
        bits |= word << shift
        shift += width
    return bits.to_bytes((shift + 7) // 8, "little")


def _sub_blocks(payload: bytes) -> bytes:
    parts = [payload[at : at + 255] for at in range(0, len(payload), 255)]
    return b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


def _blocks(length: int, mark: str) -> bytes:
    """A GIF comment of `length` bytes: blocks of at most 255, each behind its length."""
    rest = length - 3
    whole, last = divmod(rest, 256)
    sizes = [255] * whole + [last - 1] * (last > 1)
    if last == 1:  # a block of nothing would end the comment
        sizes = [255] * (whole - 1) + [254, 1]
    payload = noise(sum(sizes), mark)
    parts, at = [], 0
    for size in sizes:
        parts.append(bytes([size]) + payload[at : at + size])
        at += size
    return b"\x21\xfe" + b"".join(parts) + b"\0"


# --- WebP ---


def _webp(size: int, mark: str) -> bytes:
    """One pixel, whatever was asked: WebP stands only where something else was promised."""
    pixel = bytes.fromhex("5650384c110000002f000000000750bc6a15b9ff8188e87f0000")
    extra = noise(max(2, (size - 20 - len(pixel)) // 2 * 2), mark)
    body = b"WEBP" + pixel + b"NOIS" + struct.pack("<I", len(extra)) + extra
    return b"RIFF" + struct.pack("<I", len(body)) + body
