"""The real names over TLS: who trusts the authority is served, who does not is not."""

import ssl
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest
import trio
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import verification
from hypothesis import given, settings
from hypothesis import strategies as st

from pixivflow.sandbox import der
from pixivflow.sandbox.certificates import Issued, authority, server
from pixivflow.sandbox.p256 import G, Key, N, Point, new_key, plus, times
from pixivflow.sandbox.serve import Sandbox, running_sandbox
from pixivflow.sandbox.tls import NAMES
from tests.edges.sandbox.wire import heard, logged_in, told
from tests.fixtures.sandboxes import FORM, MANUAL, PIXIV, client_time, form

PROFILE = "/user-profile/5001_170.jpg"


@pytest.fixture
async def over_tls() -> AsyncIterator[Sandbox]:
    async with running_sandbox(msgspec.structs.replace(MANUAL, tls_port=0)) as running:
        yield running


def trusting(ca: Path | None) -> ssl.SSLContext:
    """A client's context that trusts the authority, as strictly as OpenSSL can be."""
    context = ssl.create_default_context(cafile=ca)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


async def asked(sandbox: Sandbox, client: httpx.AsyncClient, name: str, path: str, **more: object) -> httpx.Response:
    """What the real name answers on the TLS port."""
    headers = {"host": name, **more.pop("headers", {})}  # type: ignore[dict-item]
    address = f"https://127.0.0.1:{sandbox.tls_port}{path}"
    method = "POST" if "content" in more else "GET"
    return await client.request(method, address, headers=headers, extensions={"sni_hostname": name}, **more)  # type: ignore[arg-type]


@pytest.mark.case("sandbox", 17)
async def test_each_real_name_is_served_to_who_trusts_the_authority(over_tls: Sandbox) -> None:
    async with httpx.AsyncClient(verify=trusting(over_tls.ca)) as client:
        body = form()
        grant = await asked(
            over_tls, client, "oauth.secure.pixiv.net", "/auth/token", content=body, headers={**FORM, **client_time()}
        )
        bearer = {"authorization": f"Bearer {grant.json()['access_token']}"}
        search = await asked(over_tls, client, "app-api.pixiv.net", "/v1/search/illust?word=猫", headers=bearer)
        picture = await asked(over_tls, client, "i.pximg.net", PROFILE, headers=PIXIV)
        page = await asked(over_tls, client, "www.pixiv.net", "/ajax/illust/100001")
    assert [answer.status_code for answer in (grant, search, picture, page)] == [200] * 4
    assert search.json()["next_url"].startswith("https://app-api.pixiv.net/v1/search/illust?")
    assert page.json()["body"]["urls"]["original"].startswith("https://i.pximg.net/img-original/")
    assert b"127.0.0.1" not in search.content + page.content


async def shaken(sandbox: Sandbox, name: str, context: ssl.SSLContext) -> None:
    """A handshake under that name and nothing else."""
    plain = await trio.open_tcp_stream("127.0.0.1", sandbox.tls_port or 0)
    stream = trio.SSLStream(plain, context, server_hostname=name)
    try:
        await stream.do_handshake()
    finally:
        await trio.aclose_forcefully(stream)


@pytest.mark.case("sandbox", 17)
@pytest.mark.parametrize("name", NAMES)
async def test_who_does_not_trust_the_authority_ends_the_handshake(over_tls: Sandbox, name: str) -> None:
    await shaken(over_tls, name, trusting(over_tls.ca))
    with pytest.raises(trio.BrokenResourceError) as raised:
        await shaken(over_tls, name, ssl.create_default_context())
    assert isinstance(raised.value.__cause__, ssl.SSLCertVerificationError)
    assert over_tls.service.state.journal.view()["routes"] == {}


@pytest.mark.parametrize("name", ["accounts.pixiv.net", "pixiv.net", "example.org"])
async def test_a_name_that_is_not_ours_is_not_in_the_certificate(over_tls: Sandbox, name: str) -> None:
    with pytest.raises(trio.BrokenResourceError) as raised:
        await shaken(over_tls, name, trusting(over_tls.ca))
    assert "mismatch" in str(raised.value.__cause__)


async def test_loopback_names_mean_the_base_paths_over_tls_too(over_tls: Sandbox) -> None:
    own = f"https://localhost:{over_tls.tls_port}"
    async with httpx.AsyncClient(verify=trusting(over_tls.ca), base_url=own) as client:
        assert (await client.get(f"/img{PROFILE}", headers=PIXIV)).status_code == 200


async def test_the_plain_port_keeps_its_own_addresses_beside_it(over_tls: Sandbox) -> None:
    bearer = await logged_in(over_tls)
    answer = await heard(over_tls.port, "GET", "/app/v1/illust/detail?illust_id=100001", headers=bearer)
    assert over_tls.endpoints.img.encode() in answer.body


async def test_plain_talk_on_the_tls_port_harms_nobody(over_tls: Sandbox) -> None:
    async with await trio.open_tcp_stream("127.0.0.1", over_tls.tls_port or 0) as stream:
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with trio.move_on_after(30):
            while await stream.receive_some(1_000):
                pass
    async with httpx.AsyncClient(verify=trusting(over_tls.ca)) as client:
        assert (await asked(over_tls, client, "i.pximg.net", PROFILE, headers=PIXIV)).status_code == 200


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"fault": "reset"}, httpx.ReadError),
        ({"fault": "truncate", "args": {"after_bytes": 9}}, httpx.RemoteProtocolError),
    ],
)
async def test_faults_work_over_tls(over_tls: Sandbox, fault: dict[str, object], error: type[Exception]) -> None:
    await told(over_tls, "/faults", [{**fault, "count": 1}])
    async with httpx.AsyncClient(verify=trusting(over_tls.ca)) as client:
        with pytest.raises(error):
            await asked(over_tls, client, "i.pximg.net", PROFILE, headers=PIXIV)
        assert (await asked(over_tls, client, "i.pximg.net", PROFILE, headers=PIXIV)).status_code == 200


async def test_the_file_of_the_authority_holds_no_key_and_goes_at_the_end() -> None:
    async with running_sandbox(msgspec.structs.replace(MANUAL, tls_port=0)) as running:
        assert running.ca is not None
        assert [path.name for path in running.ca.parent.iterdir()] == ["ca.pem"]
        text = running.ca.read_text()
        assert text.count("BEGIN CERTIFICATE") == 1
        assert "PRIVATE" not in text
    assert not running.ca.parent.exists()


# --- the certificates, judged by a library ---


@pytest.fixture(scope="module")
def issued() -> tuple[Issued, Issued]:
    issuer = authority("a test", int(time.time()))
    return issuer, server(issuer, NAMES, int(time.time()))


def test_a_verifier_of_the_web_accepts_the_chain_for_every_name(issued: tuple[Issued, Issued]) -> None:
    issuer, own = (x509.load_pem_x509_certificate(each.pem.encode()) for each in issued)
    policy = verification.PolicyBuilder().store(verification.Store([issuer]))
    for name in NAMES[:-1]:
        assert policy.build_server_verifier(x509.DNSName(name)).verify(own, [])
    other = policy.build_server_verifier(x509.DNSName("pixiv.net"))
    with pytest.raises(verification.VerificationError):
        other.verify(own, [])


def test_a_key_is_written_so_that_a_library_reads_the_same_key(issued: tuple[Issued, Issued]) -> None:
    _, own = issued
    read = load_pem_private_key(own.key_pem.encode(), None)
    assert isinstance(read, ec.EllipticCurvePrivateKey)
    assert read.private_numbers().private_value == own.key.secret


def test_two_authorities_have_nothing_in_common() -> None:
    one, other = (authority("a test", 1_800_000_000) for _ in range(2))
    assert one.key != other.key
    serials = {x509.load_pem_x509_certificate(each.pem.encode()).serial_number for each in (one, other)}
    assert len(serials) == 2


@settings(max_examples=20)
@given(st.integers(1, N - 1), st.binary(max_size=200))
def test_a_library_accepts_every_signature_and_knows_the_same_point(secret: int, message: bytes) -> None:
    key = Key(secret)
    known = ec.derive_private_key(secret, ec.SECP256R1()).public_key()
    assert known == ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key.public)
    known.verify(encode_dss_signature(*key.sign(message)), message, ec.ECDSA(SHA256()))


def test_the_curve_closes_where_its_order_says() -> None:
    minus: Point = times(N - 1, G)
    assert plus(minus, G) is None
    assert times(N, G) is None
    assert plus(None, G) == plus(G, None) == G
    assert new_key() != new_key()


@given(st.integers(0, 2**160))
def test_a_number_is_written_without_a_sign_and_without_a_needless_zero(value: int) -> None:
    written = der.integer(value)
    content = written[2:]
    assert written[:2] == bytes([2, len(content)])
    assert int.from_bytes(content, "big", signed=True) == value
    assert len(content) == 1 or content[0] or content[1] >= 0x80


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (der.oid("1.2.840.10045.4.3.2"), "06082a8648ce3d040302"),
        (der.time(1_700_000_000), "170d3233313131343232313332305a"),
        (der.octets(bytes(127))[:2], "047f"),
        (der.octets(bytes(128))[:3], "048180"),
        (der.octets(bytes(256))[:4], "04820100"),
        (der.boolean(True), "0101ff"),
        (der.bits(b"\x80", 7), "03020780"),
    ],
)
def test_a_shape_is_written_as_the_standard_has_it(written: bytes, expected: str) -> None:
    assert written.hex() == expected
