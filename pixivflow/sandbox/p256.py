"""Signatures on the curve P-256 (SEC 1, FIPS 186-5), for a key that lives as long as one sandbox.

This is not constant-time and must guard nothing: the key is made at the start, signs two certificates for loopback,
and is gone with the process. See `docs/decisions/0005-sandbox-tls.md` for why it is here at all.
"""

import hashlib
import secrets
from typing import Final

import msgspec

P: Final = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
N: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G: Final = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
Point = tuple[int, int] | None
"""A point of the curve; None is the one at infinity."""


class Key(msgspec.Struct, frozen=True):
    """A private key: a number below the order of the curve."""

    secret: int

    @property
    def public(self) -> bytes:
        """The public key as an uncompressed point."""
        point = times(self.secret, G)
        assert point is not None  # noqa: S101 -- 0 < secret < N
        return b"\x04" + b"".join(part.to_bytes(32, "big") for part in point)

    def sign(self, message: bytes) -> tuple[int, int]:
        """An ECDSA signature over the SHA-256 of the message."""
        digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
        while True:
            once = 1 + secrets.randbelow(N - 1)
            point = times(once, G)
            r = point[0] % N if point else 0
            s = pow(once, -1, N) * (digest + r * self.secret) % N
            if r and s:
                return r, s


def new_key() -> Key:
    return Key(1 + secrets.randbelow(N - 1))


def times(factor: int, point: Point) -> Point:
    """`factor` times the point."""
    total: Point = None
    while factor:
        if factor & 1:
            total = plus(total, point)
        point = plus(point, point)
        factor >>= 1
    return total


def plus(one: Point, other: Point) -> Point:
    """The sum of two points."""
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % P == 0:
        return None
    rise, run = (3 * x1 * x1 - 3, 2 * y1) if one == other else (y2 - y1, x2 - x1)
    slope = rise * pow(run, -1, P) % P
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P
