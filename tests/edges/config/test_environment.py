"""What the environment may say."""

from collections.abc import Callable, Mapping

import pytest

from pixivflow.config.load import ConfigInvalid, Loaded
from pixivflow.config.mask import Secret
from pixivflow.config.model import Settings
from tests.fixtures.documents import Document, said


def case(number: int) -> pytest.MarkDecorator:
    return pytest.mark.case("operate", number)


@pytest.mark.parametrize(
    ("environ", "value"),
    [
        pytest.param({"PIXIV_LOG_LEVEL": "DEBUG"}, ("log_level", "debug"), id="a level in capitals"),
        pytest.param({"PIXIV_LOG_LEVEL": " "}, ("log_level", "info"), id="an empty variable is unset"),
        pytest.param({"PIXIV_CANDIDATE_SCAN_LIMIT": "7"}, ("download.candidate_scan_limit", 7), id="a scan limit"),
        pytest.param({"PIXIV_CLIENT_ID": "mine"}, ("pixiv.client_id", "mine"), id="a client"),
        pytest.param(
            {"PIXIV_REFRESH_TOKEN": "0123456789a"}, ("pixiv.refresh_token", Secret("0123456789a")), id="a token"
        ),
        pytest.param({"SCHEDULER_TRIGGER_HOST": "::1"}, ("scheduler_runtime.trigger.host", "::1"), id="a host"),
        pytest.param(
            {"SCHEDULER_TRIGGER_PORT": "1", "PORT": "2"}, ("scheduler_runtime.trigger.port", 1), id="its port"
        ),
        pytest.param({"PORT": "2"}, ("scheduler_runtime.trigger.port", 2), id="the platform's port"),
        pytest.param({"PORT": "70000"}, ("scheduler_runtime.trigger.port", 8090), id="a port that is none"),
        pytest.param({"PIXIVFLOW_REFETCH_TOKEN": " t "}, ("manual_token", Secret("t")), id="the manual token"),
    ],
)
def test_the_environment_wins_over_the_defaults(
    loaded: Callable[..., Loaded], environ: Mapping[str, str], value: tuple[str, object]
) -> None:
    assert at(loaded(environ).settings, value[0]) == value[1]


def at(settings: Settings, path: str) -> object:
    part: object = settings
    for name in path.split("."):
        part = getattr(part, name)
    return part


def test_the_order_in_which_a_port_is_found(loaded: Callable[..., Loaded]) -> None:
    def port(**environ: str) -> int:
        return loaded(environ, schedulerRuntime={"trigger": {"port": 5}}).settings.scheduler_runtime.trigger.port

    assert port(SCHEDULER_TRIGGER_PORT="1", PORT="2") == 1
    assert port(PORT="2") == 5


def test_a_token_of_the_file_beats_the_environment_and_a_blank_one_closes(loaded: Callable[..., Loaded]) -> None:
    def token(trigger: Document) -> str:
        runtime = {"trigger": trigger}
        settings = loaded({"SCHEDULER_TRIGGER_TOKEN": " outer "}, schedulerRuntime=runtime).settings
        return settings.scheduler_runtime.trigger.token.reveal()

    assert [token({}), token({"token": "inner"}), token({"token": ""})] == ["outer", "inner", ""]


def test_a_host_of_the_environment_that_is_none_is_an_error(loaded: Callable[..., Loaded]) -> None:
    with pytest.raises(ConfigInvalid, match=r"schedulerRuntime\.trigger\.host"):
        loaded({"SCHEDULER_TRIGGER_HOST": "http://x"})


@case(42)
def test_bad_values_of_the_environment_are_ignored(loaded: Callable[..., Loaded]) -> None:
    result = loaded({"PIXIV_LOG_LEVEL": "loud", "PIXIV_CANDIDATE_SCAN_LIMIT": "-3"}, logLevel="warn")
    assert (result.settings.log_level, result.settings.download.candidate_scan_limit) == ("warn", 5)
    assert [each.field for each in result.warnings] == ["PIXIV_CANDIDATE_SCAN_LIMIT"]


@case(43)
def test_an_empty_switch_does_not_switch(loaded: Callable[..., Loaded]) -> None:
    def enabled(**environ: str) -> bool:
        return loaded(environ, scheduler={"enabled": True}).settings.schedules[0].enabled

    assert [enabled(PIXIV_SCHEDULER_ENABLED=text) for text in ("", "true", "no")] == [True, True, False]


def test_a_wrong_section_is_named_and_not_hidden_by_the_environment(loaded: Callable[..., Loaded]) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        loaded({"PIXIV_REFRESH_TOKEN": "x" * 20, "PIXIV_DOWNLOAD_DIR": "/x", "PORT": "1"}, pixiv=[], storage=5)
    assert said(caught.value.report) == ["E:PIXIV_REQUIRED pixiv", "E:STORAGE_REQUIRED storage"]
