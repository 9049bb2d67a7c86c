"""What a snapshot is worth to those who read it."""

import msgspec
import pytest

from pixivflow.config.mask import Secret
from pixivflow.config.model import Pixiv, Settings, Target, TargetDelivery
from pixivflow.ids import RouteName


def a_target(storage_mode: str = "cache", **delivery: object) -> Target:
    settings = {"type": "novel", "storageMode": storage_mode, "delivery": delivery}
    return msgspec.convert(settings, Target)


@pytest.mark.parametrize(
    ("target", "routes", "primary"),
    [
        pytest.param(a_target(target="a"), ["a"], "a", id="one route"),
        pytest.param(a_target(targets=["b", "c"], target="a"), ["b", "c"], "b", id="a list wins over the one"),
        pytest.param(a_target(targets=[" b ", "b", ""]), ["b"], "b", id="blanks and repeats fall out"),
        pytest.param(a_target(targets=[" "], target="a"), [], "a", id="a list of blanks does not fall back"),
        pytest.param(a_target("persistent", target="a"), [], "a", id="kept files are not delivered, notices are"),
        pytest.param(a_target(), [], None, id="nowhere"),
    ],
)
def test_where_a_target_s_works_and_notices_go(target: Target, routes: list[str], primary: str | None) -> None:
    assert list(target.routes) == [RouteName(each) for each in routes]
    assert target.primary_route == primary


@pytest.mark.case("delivery", 3)
def test_the_list_of_routes_is_cleaned_and_wins_over_the_single_one() -> None:
    assert a_target(targets=["a", " b", "a"], target="c").routes == ("a", "b")


@pytest.mark.case("delivery", 4)
def test_a_persistent_download_goes_nowhere_but_its_outcomes_are_still_told() -> None:
    kept = a_target("persistent", targets=["  ", "a", "b"], target="c")
    assert kept.routes == ()
    assert kept.primary_route == "a"


def test_a_target_is_called_after_what_it_looks_for() -> None:
    assert Target(type="novel", tag="t", filter_tag="f", topic="o").label == "t"
    assert Target(type="novel", filter_tag="f", topic="o").label == "f"
    assert Target(type="novel", topic="o").label == "o"
    assert Target(type="novel", delivery=TargetDelivery()).label == ""


@pytest.mark.parametrize(("token", "has"), [("YOUR_REFRESH_TOKEN", False), (" short   ", False), ("x" * 10, True)])
def test_a_placeholder_is_no_token(token: str, has: bool) -> None:
    assert Pixiv(refresh_token=Secret(token)).has_token is has


def test_a_snapshot_shows_no_secret_however_it_is_printed() -> None:
    settings = Settings(pixiv=Pixiv(refresh_token=Secret("planted-planted")), manual_token=Secret("planted"))
    assert "planted" not in f"{settings} {settings!r} {[settings]}"


def test_a_snapshot_with_secrets_cannot_be_stored_by_chance() -> None:
    with pytest.raises((TypeError, NotImplementedError)):
        msgspec.json.encode(Pixiv(refresh_token=Secret("planted-planted")))
