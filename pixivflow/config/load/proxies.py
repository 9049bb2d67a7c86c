"""The proxy of the environment, and what its host is called from inside and outside a container."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pixivflow.config.load.document import Document
from pixivflow.config.load.overrides import with_value
from pixivflow.config.validate.findings import Finding, Level
from pixivflow.config.validate.shape import finding

FAMILIES: Final = ("all_proxy", "https_proxy", "http_proxy")
_KINDS: Final = {"socks5": "socks5", "socks5h": "socks5", "socks": "socks5", "https": "https"}
_DOCKER_HOST: Final = "host.docker.internal"


def with_proxy(document: Document, environ: Mapping[str, str]) -> tuple[Document, list[Finding]]:
    """The document with the environment's proxy, where the file has none that is on.

    The first family with a usable address wins; inside a family the name in lower case does.
    """
    findings: list[Finding] = []
    network = document.get("network")
    own = network.get("proxy") if isinstance(network, dict) else None
    if isinstance(own, dict) and own.get("enabled") not in (False, None):
        return document, findings
    for name in (spelling for family in FAMILIES for spelling in (family, family.upper())):
        if not (text := environ.get(name, "").strip()):
            continue
        try:
            return with_value(document, ("network", "proxy"), _proxy(text)), findings
        except ValueError as error:
            findings.append(finding(Level.WARNING, "PROXY_IGNORED", (name,), f"is ignored: {error}"))
    return document, findings


def at_home(document: Document, *, in_container: bool) -> Document:
    """The document with a proxy on this machine called as this side of a container calls it."""
    network = document.get("network")
    proxy = network.get("proxy") if isinstance(network, dict) else None
    host = proxy.get("host") if isinstance(proxy, dict) else None
    if in_container and host in ("127.0.0.1", "localhost"):
        return with_value(document, ("network", "proxy", "host"), _DOCKER_HOST)
    if not in_container and host == _DOCKER_HOST:
        return with_value(document, ("network", "proxy", "host"), "127.0.0.1")
    return document


def in_container(environ: Mapping[str, str], root: Path = Path("/")) -> bool:
    """Whether this process runs in a container, as far as its file system and its environment tell."""
    if environ.get("container") == "docker" or (root / ".dockerenv").exists():
        return True
    try:
        groups = (root / "proc/self/cgroup").read_text("utf-8", "replace")
    except OSError:
        return False
    return any(name in groups for name in ("docker", "containerd", "kubepods"))


def _proxy(text: str) -> Document:
    """The proxy that a variable names. Errors: `ValueError`, without a word of the address in it."""
    from urllib.parse import unquote, urlsplit  # few environments name a proxy

    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("it is not an address") from None
    if not host:
        raise ValueError("it names no host")
    if parts.scheme == "socks4":
        raise ValueError("socks4 is not spoken here; use socks5")
    protocol = _KINDS.get(parts.scheme, "http")
    proxy: Document = {"enabled": True, "host": host, "protocol": protocol}
    proxy["port"] = port or (1080 if protocol == "socks5" else 8080)
    if parts.username:
        proxy |= {"username": unquote(parts.username), "password": unquote(parts.password or "")}
    return proxy
