"""The proxy of the file and those of the environment."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pixivflow.config.load import ConfigInvalid, Loaded
from pixivflow.config.load.proxies import in_container
from pixivflow.config.mask import Secret
from pixivflow.config.model import Proxy
from tests.edges.config.conftest import NOBODY
from tests.fixtures.documents import said


def case(number: int) -> pytest.MarkDecorator:
    return pytest.mark.case("operate", number)


@case(44)
def test_a_proxy_of_the_environment_serves_only_while_the_file_has_none(loaded: Callable[..., Loaded]) -> None:
    environ = {"ALL_PROXY": "socks://h", "HTTPS_PROXY": "http://other:1"}
    expected = Proxy(enabled=True, host="h", port=1080, protocol="socks5")
    assert loaded(environ).settings.network.proxy == expected
    assert loaded(environ, network={"proxy": {"enabled": False, "host": "x"}}).settings.network.proxy == expected
    own = {"enabled": True, "host": "mine", "port": 5}
    assert loaded(environ, network={"proxy": own}).settings.network.proxy == Proxy(enabled=True, host="mine", port=5)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({"https_proxy": "p:3128"}, Proxy(enabled=True, host="p", port=3128), id="without a scheme"),
        pytest.param({"HTTP_PROXY": "http://p"}, Proxy(enabled=True, host="p", port=8080), id="without a port"),
        pytest.param(
            {"http_proxy": "http://a", "HTTP_PROXY": "http://b", "https_proxy": "https://c"},
            Proxy(enabled=True, host="c", port=8080, protocol="https"),
            id="the order of families",
        ),
        pytest.param(
            {"all_proxy": "http://small", "ALL_PROXY": "http://BIG"},
            Proxy(enabled=True, host="small", port=8080),
            id="a",
        ),
        pytest.param(
            {"all_proxy": "socks5h://u:p%40w@h:9"},
            Proxy(enabled=True, host="h", port=9, protocol="socks5", username="u", password=Secret("p@w")),
            id="with a user",
        ),
        pytest.param({"all_proxy": " "}, Proxy(), id="empty is unset"),
    ],
)
def test_a_proxy_is_read_from_its_variable(
    loaded: Callable[..., Loaded], environ: Mapping[str, str], expected: Proxy
) -> None:
    assert loaded(environ).settings.network.proxy == expected


@case(77)
def test_socks4_is_refused_in_the_file_and_ignored_in_the_environment(loaded: Callable[..., Loaded]) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        loaded(network={"proxy": {"enabled": True, "host": "h", "port": 1, "protocol": "socks4"}})
    assert said(caught.value.report) == ["E:PROXY_PROTOCOL_INVALID network.proxy.protocol"]
    assert "socks5" in str(caught.value)
    result = loaded({"ALL_PROXY": "socks4://user:planted@h"})
    assert not result.settings.network.proxy.enabled
    assert "socks5" in result.warnings[0].message
    assert "planted" not in str(result.warnings)


def test_a_proxy_variable_that_names_nothing_gives_way_to_the_next(loaded: Callable[..., Loaded]) -> None:
    result = loaded({"ALL_PROXY": "http://h:99999", "HTTPS_PROXY": "http://good:1"})
    assert result.settings.network.proxy.host == "good"
    assert [each.field for each in result.warnings] == ["ALL_PROXY"]


@pytest.mark.parametrize(
    ("inside", "written", "used"),
    [
        (True, "127.0.0.1", "host.docker.internal"),
        (True, "localhost", "host.docker.internal"),
        (True, "p", "p"),
        (False, "host.docker.internal", "127.0.0.1"),
        (False, "127.0.0.1", "127.0.0.1"),
    ],
)
def test_a_proxy_on_this_machine_is_called_as_a_container_calls_it(
    loaded: Callable[..., Loaded], monkeypatch: pytest.MonkeyPatch, inside: bool, written: str, used: str
) -> None:
    monkeypatch.setattr("pixivflow.config.load.in_container", lambda environ: inside)
    result = loaded(network={"proxy": {"enabled": True, "host": written, "port": 1}})
    assert result.settings.network.proxy.host == used


def test_how_a_container_is_told(tmp_path: Path) -> None:
    assert not in_container(NOBODY, tmp_path)
    assert in_container({"container": "docker"}, tmp_path)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/kubepods/burstable/pod1")
    assert in_container(NOBODY, tmp_path)
    (tmp_path / "proc/self/cgroup").write_text("0::/init.scope")
    assert not in_container(NOBODY, tmp_path)
    (tmp_path / ".dockerenv").touch()
    assert in_container(NOBODY, tmp_path)
