"""The few shapes of DER (X.690) that a certificate is made of: each is a tag, a length and what it holds."""

from datetime import UTC, datetime


def tlv(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def seq(*parts: bytes) -> bytes:
    return tlv(0x30, b"".join(parts))


def set_of(*parts: bytes) -> bytes:
    return tlv(0x31, b"".join(parts))


def integer(value: int) -> bytes:
    """A number that is not negative."""
    return tlv(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def boolean(value: bool) -> bytes:
    return tlv(0x01, b"\xff" if value else b"\0")


def octets(content: bytes) -> bytes:
    return tlv(0x04, content)


def bits(content: bytes, unused: int = 0) -> bytes:
    return tlv(0x03, bytes([unused]) + content)


def text(value: str) -> bytes:
    return tlv(0x0C, value.encode())


def oid(dotted: str) -> bytes:
    """An object identifier: `1.2.840.10045.4.3.2`."""
    first, second, *rest = map(int, dotted.split("."))
    return tlv(0x06, b"".join(map(_base128, [first * 40 + second, *rest])))


def _base128(value: int) -> bytes:
    digits = [value & 0x7F]
    while value := value >> 7:
        digits.append(0x80 | value & 0x7F)
    return bytes(reversed(digits))


def time(at_s: int) -> bytes:
    """An instant to the second, in the shape that certificates use until 2049."""
    return tlv(0x17, datetime.fromtimestamp(at_s, UTC).strftime("%y%m%d%H%M%SZ").encode())


def explicit(number: int, content: bytes) -> bytes:
    """Content under a context tag, as optional fields are marked."""
    return tlv(0xA0 | number, content)
