"""The names of Hypercorn that the door leans on, none of which Hypercorn promises."""

import inspect
import tomllib
from importlib.metadata import version
from pathlib import Path

from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext

from pixivflow.control import app, serve, server
from pixivflow.control.server import Connection, Desk, OnlyHttp1, limits
from pixivflow.times import PRODUCTION


def parameters(function: object) -> list[str]:
    return list(inspect.signature(function).parameters)  # type: ignore[arg-type]


def test_the_version_is_bounded_and_the_installed_one_is_within_it() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    assert "hypercorn>=0.18,<0.19" in project["dependencies"]
    assert version("hypercorn").startswith("0.18.")


def test_the_names_that_are_replaced_or_called_are_where_they_were() -> None:
    assert parameters(TCPServer.__init__) == ["self", "app", "config", "context", "state", "stream"]
    assert parameters(TCPServer.protocol_send) == ["self", "event"]
    assert parameters(TCPServer._read_data) == ["self"]
    assert parameters(TCPServer._idle_timeout) == ["self"]
    assert parameters(H11Protocol._check_protocol) == ["self", "event"]
    assert parameters(H11Protocol.__init__) == [
        *("self", "app", "config", "context", "task_group", "connection_state", "ssl", "client", "server", "send"),
    ]
    assert parameters(WorkerContext.__init__) == ["self", "max_requests"]
    assert parameters(ASGIWrapper.__init__) == ["self", "app"]


def test_what_is_replaced_is_there_to_be_replaced() -> None:
    assert {"run", "protocol_send"} <= vars(Connection).keys() & vars(TCPServer).keys()
    assert "_check_protocol" in vars(OnlyHttp1).keys() & vars(H11Protocol).keys()


def test_what_hypercorn_is_told() -> None:
    told, usual = limits(), Config()
    assert told.accesslog is None
    assert told.include_server_header is False
    assert (told.keep_alive_timeout, told.read_timeout) == (server.IDLE_S, None)
    assert told.keep_alive_max_requests == usual.keep_alive_max_requests


def test_what_one_client_may_take_is_bounded() -> None:
    assert (PRODUCTION.body_ms, app.BODY_MAX, serve.CONNECTIONS_MAX) == (10_000, 102_400, 256)


async def test_a_desk_that_is_closed_says_so_to_those_who_wait() -> None:
    desk = Desk(lambda scope, receive, send: None)
    assert not desk._context.terminated.is_set()
    await desk.close()
    assert desk._context.terminated.is_set()
