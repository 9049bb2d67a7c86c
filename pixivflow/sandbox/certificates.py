"""Certificates (RFC 5280): an authority of our own, and a server's certificate that it signs."""

import base64
import hashlib
import ipaddress
from collections.abc import Sequence
from typing import Final

import msgspec

from pixivflow.sandbox import der
from pixivflow.sandbox.p256 import Key, new_key

SIGNED_WITH: Final = der.seq(der.oid("1.2.840.10045.4.3.2"))  # ECDSA with SHA-256
ON_CURVE: Final = der.seq(der.oid("1.2.840.10045.2.1"), der.oid("1.2.840.10045.3.1.7"))  # a key on P-256
LIFETIME_S: Final = 30 * 86_400
SKEW_S: Final = 86_400
"""How far back the certificates begin, for clients whose clock is behind."""


class Issued(msgspec.Struct, frozen=True):
    """A certificate and its key."""

    name: bytes
    key: Key
    certificate: bytes

    @property
    def pem(self) -> str:
        return _pem("CERTIFICATE", self.certificate)

    @property
    def key_pem(self) -> str:
        """The private key, in the form of SEC 1."""
        curve = der.explicit(0, der.oid("1.2.840.10045.3.1.7"))
        public = der.explicit(1, der.bits(self.key.public))
        secret = der.octets(self.key.secret.to_bytes(32, "big"))
        return _pem("EC PRIVATE KEY", der.seq(der.integer(1), secret, curve, public))


def authority(common_name: str, now_s: int) -> Issued:
    """An authority that may sign servers and nothing else."""
    key, name = new_key(), _name(common_name)
    extensions = [
        _extension("2.5.29.19", der.seq(der.boolean(True), der.integer(0)), critical=True),  # an authority's, one deep
        _extension("2.5.29.15", der.bits(b"\x06", 1), critical=True),  # signs certificates and lists
        _extension("2.5.29.14", der.octets(_key_id(key))),
    ]
    return Issued(name, key, _certificate(name, name, key, key, extensions, now_s))


def server(issuer: Issued, names: Sequence[str], now_s: int) -> Issued:
    """A server's certificate for those names and addresses."""
    key, name = new_key(), _name(names[0])
    extensions = [
        _extension("2.5.29.19", der.seq(), critical=True),
        _extension("2.5.29.15", der.bits(b"\x80", 7), critical=True),  # signs handshakes
        _extension("2.5.29.37", der.seq(der.oid("1.3.6.1.5.5.7.3.1"))),  # as a server
        _extension("2.5.29.17", der.seq(*map(_alternative, names))),
        _extension("2.5.29.14", der.octets(_key_id(key))),
        _extension("2.5.29.35", der.seq(der.tlv(0x80, _key_id(issuer.key)))),
    ]
    return Issued(name, key, _certificate(issuer.name, name, issuer.key, key, extensions, now_s))


def _certificate(
    issuer: bytes, subject: bytes, signer: Key, key: Key, extensions: Sequence[bytes], now_s: int
) -> bytes:
    serial = int.from_bytes(hashlib.sha256(key.public).digest()[:15], "big")
    told = der.seq(
        der.explicit(0, der.integer(2)),  # version 3
        der.integer(serial),
        SIGNED_WITH,
        issuer,
        der.seq(der.time(now_s - SKEW_S), der.time(now_s + LIFETIME_S)),
        subject,
        der.seq(ON_CURVE, der.bits(key.public)),
        der.explicit(3, der.seq(*extensions)),
    )
    signature = der.seq(*map(der.integer, signer.sign(told)))
    return der.seq(told, SIGNED_WITH, der.bits(signature))


def _name(common_name: str) -> bytes:
    return der.seq(der.set_of(der.seq(der.oid("2.5.4.3"), der.text(common_name))))


def _extension(oid: str, content: bytes, *, critical: bool = False) -> bytes:
    return der.seq(der.oid(oid), *[der.boolean(True)] * critical, der.octets(content))


def _alternative(name: str) -> bytes:
    try:
        return der.tlv(0x87, ipaddress.ip_address(name).packed)
    except ValueError:
        return der.tlv(0x82, name.encode("ascii"))


def _key_id(key: Key) -> bytes:
    return hashlib.sha256(key.public).digest()[:20]


def _pem(label: str, content: bytes) -> str:
    return f"-----BEGIN {label}-----\n{base64.encodebytes(content).decode()}-----END {label}-----\n"
