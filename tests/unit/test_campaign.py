"""A campaign tells every failure with the seed that shows it again."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign import campaign, names, tried
from tests.campaigns import Result

ROOT = Path(__file__).parents[2]


def odd_seeds_fail(seed: int) -> Result:
    return Result(seed % 2 == 0, f"looked at {seed}")


def seven_raises(seed: int) -> Result:
    if seed == 7:
        raise ValueError("no sevens")
    return Result(True, "fine")


def test_every_failure_is_told_with_its_seed() -> None:
    said: list[str] = []
    assert campaign("demo", odd_seeds_fail, range(10, 14), said.append) == 2
    failures = [line for line in said if "FAILED" in line]
    assert failures == ["demo seed 11 FAILED: looked at 11", "demo seed 13 FAILED: looked at 13"]


def test_a_campaign_that_raises_has_failed_at_that_seed_and_goes_on() -> None:
    said: list[str] = []
    assert campaign("demo", seven_raises, range(5, 10), said.append) == 1
    assert said[-1].startswith("demo 5 of 5, 1 failed")
    assert tried(seven_raises, 7).line.startswith("ValueError: no sevens (test_campaign.py:")


def test_a_long_campaign_tells_ten_times_how_far_it_is() -> None:
    said: list[str] = []
    campaign("demo", lambda _: Result(True, "fine"), range(1000), said.append)
    assert len(said) == 10


def _command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.campaign", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_command_runs_a_campaign_from_the_seed_it_is_given() -> None:
    ended = _command("selftest", "--seeds", "3", "--first", "40")
    assert ended.returncode == 0, ended.stderr
    assert "seed 42" in ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("selftest: 3 seeds, 0 failed")


@pytest.mark.parametrize("arguments", [("nothing", "--seeds", "1"), ("selftest", "--seeds", "0"), ("selftest",)])
def test_a_command_that_would_run_nothing_is_an_error(arguments: tuple[str, ...]) -> None:
    assert _command(*arguments).returncode == 2


def test_the_command_fails_when_a_seed_fails() -> None:
    program = (
        "import sys, tests.campaigns.selftest as s, tests.campaign as c\n"
        "from tests.campaigns import Result\n"
        "s.run = lambda seed: Result(seed != 1, 'broken')\n"
        "sys.argv[1:] = ['selftest', '--seeds', '2']\n"
        "sys.exit(c.main())\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "seed 1 FAILED: broken" in ended.stdout


def test_the_frames_own_campaign_is_listed() -> None:
    assert "selftest" in names()
