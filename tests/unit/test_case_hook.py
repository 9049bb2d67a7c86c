"""The count of proved cases can be trusted: neither a claim without a case nor a case without a claim goes unseen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import cases_report
from tests.case_hook import AREAS, Cases, CasesRefused, Claims, faults, read_cases, totals

ROOT = Path(__file__).parents[2]

TWO: Cases = {"slots": {1: "a line", 7: "a line"}, "delivery": {}}
BOTH: Claims = {("slots", 1): "test_a", ("slots", 7): "test_b"}


def test_claims_and_cases_that_agree_are_no_fault() -> None:
    assert faults(TWO, BOTH, whole=True) == []


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("claim", [("slots", 2), ("slots", "1"), ("slot", 1), ("slots",), ()])
def test_a_claim_of_what_is_not_listed_is_a_fault_whatever_was_collected(
    claim: tuple[object, ...], whole: bool
) -> None:
    (found,) = faults(TWO, {**BOTH, claim: "test_c"}, whole=whole)
    assert found.startswith("test_c claims")


def test_a_listed_case_without_a_test_is_a_fault_once_all_tests_were_collected() -> None:
    (found,) = faults(TWO, {("slots", 1): "test_a"}, whole=True)
    assert found == "slots 7 is listed, but no test claims it"


def test_a_listed_case_without_a_test_is_no_fault_while_a_part_was_asked_for() -> None:
    assert faults(TWO, {("slots", 1): "test_a"}, whole=False) == []


def test_the_total_names_each_area_and_how_much_of_it_is_proved() -> None:
    assert totals(TWO) == "slots 2 of 120, delivery 0 of 119"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param('[cases]\n1 = "a"\n1 = "b"\n', "Cannot overwrite", id="a number twice"),
        pytest.param('[cases]\n0 = "a"\n', "1 to 120", id="a number below the specification's"),
        pytest.param('[cases]\n121 = "a"\n', "1 to 120", id="a number above the specification's"),
        pytest.param('[cases]\nfirst = "a"\n', "1 to 120", id="no number"),
        pytest.param('[cases]\n01 = "a"\n', "1 to 120", id="a number spelt oddly"),
        pytest.param("[cases]\n1 = 1\n", "1 to 120", id="a line that is no text"),
        pytest.param('[cases]\n1 = ""\n', "1 to 120", id="an empty line"),
        pytest.param('[case]\n1 = "a"\n', "1 to 120", id="another table"),
        pytest.param('[cases]\n10 = "a"\n9 = "b"\n', "in order", id="numbers out of order"),
    ],
)
def test_a_file_of_cases_that_cannot_be_counted_is_refused_by_name(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "slots.toml").write_text(text)
    with pytest.raises(CasesRefused, match=f"slots.toml: .*{words}"):
        read_cases(tmp_path)


def test_a_file_of_an_unknown_area_is_refused_since_nothing_would_count_it(tmp_path: Path) -> None:
    (tmp_path / "slot.toml").write_text('[cases]\n1 = "a"\n')
    with pytest.raises(CasesRefused, match=r"slot\.toml"):
        read_cases(tmp_path)


def test_an_area_without_a_file_has_no_case_yet(tmp_path: Path) -> None:
    assert read_cases(tmp_path) == {area: {} for area in AREAS}


def test_the_report_says_how_many_and_which_are_missing(tmp_path: Path) -> None:
    (tmp_path / "slots.toml").write_text('[cases]\n2 = "a"\n')
    short = cases_report.lines(tmp_path, missing=False)
    assert short == ["slots 1 of 120", *(f"{area} 0 of {total}" for area, total in AREAS.items() if area != "slots")]
    assert cases_report.lines(tmp_path, missing=True)[1].startswith("  missing: 1 3 4")


PROVES_1 = "@pytest.mark.case('slots', 1)\ndef test_one(): pass\n"
PROVES_2 = "@pytest.mark.case('slots', 2)\ndef test_two(): pass\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of two files that proves the two cases it lists."""
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\ntestpaths = ["tests"]\nmarkers = ["case(area, number): a case"]\n'
    )
    (tmp_path / "tests" / "cases").mkdir(parents=True)
    (tmp_path / "tests" / "cases" / "slots.toml").write_text('[cases]\n1 = "a"\n2 = "b"\n')
    (tmp_path / "tests" / "test_first.py").write_text("import pytest\n" + PROVES_1)
    (tmp_path / "tests" / "test_second.py").write_text("import pytest\n" + PROVES_2)
    return tmp_path


def _run(suite: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "tests.case_hook", "-p", "no:cacheprovider", "-p", "xdist"]
    environ = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run([*command, *arguments], cwd=suite, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [(), ("tests",), (".",), ("-k", "one"), ("-n", "2")], ids=" ".join)
def test_a_suite_that_proves_what_it_lists_passes_and_says_how_much(suite: Path, arguments: tuple[str, ...]) -> None:
    ended = _run(suite, *arguments)
    assert ended.returncode == 0, ended.stdout
    assert "cases proved: slots 2 of 120, delivery 0 of 119" in ended.stdout


@pytest.mark.parametrize("arguments", [(), ("tests",), (".",), ("-k", "one"), ("-n", "2")], ids=" ".join)
def test_a_test_that_vanishes_reddens_the_whole_suite(suite: Path, arguments: tuple[str, ...]) -> None:
    (suite / "tests" / "test_second.py").unlink()
    ended = _run(suite, *arguments)
    assert ended.returncode != 0
    assert "slots 2 is listed, but no test claims it" in ended.stdout


@pytest.mark.parametrize(
    "arguments",
    [("tests/test_first.py",), ("tests/test_first.py::test_one",), ("--ignore", "tests/test_second.py")],
    ids=" ".join,
)
def test_a_run_of_a_part_asks_no_more_than_that_part(suite: Path, arguments: tuple[str, ...]) -> None:
    assert _run(suite, *arguments).returncode == 0


@pytest.mark.parametrize("arguments", [(), ("tests/test_first.py",), ("-n", "2")], ids=" ".join)
def test_a_claim_that_nobody_listed_reddens_any_run(suite: Path, arguments: tuple[str, ...]) -> None:
    with (suite / "tests" / "test_first.py").open("a") as file:
        file.write("@pytest.mark.case('slots', 3)\ndef test_three(): pass\n")
    ended = _run(suite, *arguments)
    assert ended.returncode != 0
    assert "test_three claims slots 3" in ended.stdout


def test_a_file_that_does_not_import_is_told_without_the_noise_of_its_missing_claims(suite: Path) -> None:
    (suite / "tests" / "test_second.py").write_text("import nothing_of_this_name\n")
    ended = _run(suite)
    assert ended.returncode != 0
    assert "nothing_of_this_name" in ended.stdout
    assert "no test claims it" not in ended.stdout


def test_a_broken_file_of_cases_reddens_any_run(suite: Path) -> None:
    (suite / "tests" / "cases" / "slots.toml").write_text("[cases\n")
    ended = _run(suite, "tests/test_first.py")
    assert ended.returncode != 0
    assert "slots.toml" in ended.stdout


def test_the_cases_of_this_project_are_in_order_and_readable() -> None:
    assert set(read_cases(cases_report.FOLDER)) == set(AREAS)
