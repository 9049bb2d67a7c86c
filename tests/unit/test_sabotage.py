"""The table of sabotages fits the program, and the harness tells a test that guards from one that only passes."""

from pathlib import Path

import pytest

from tests import sabotage
from tests.sabotage import ROOT, Sabotage, Verdict, all_rows, are_green, misfits, try_row

TEST = "tests/test_small.py"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of one rule with one test."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "of the outer run, and wrong here")
    (tmp_path / "tests").mkdir()
    (tmp_path / "small.py").write_text("def limit(n):\n    return min(n, 9)\n")
    (tmp_path / TEST).write_text("from small import limit\ndef test_limit():\n    assert limit(10) == 9\n")
    return tmp_path


def a_row(*, find: str = "min(n, 9)", replace: str = "n", file: str = "small.py", name: str = "no limit") -> Sabotage:
    return Sabotage(name=name, file=file, find=find, replace=replace, tests=(TEST,))


@pytest.mark.parametrize(
    ("replace", "verdict"),
    [
        pytest.param("n", Verdict.CAUGHT, id="a rule that the test guards"),
        pytest.param("min(n, 10 - 1)", Verdict.SURVIVED, id="a rule that it does not"),
        pytest.param("min(n, 9", Verdict.UNCLEAR, id="a patch that is no program"),
    ],
)
def test_a_row_is_judged_by_what_its_tests_do_on_the_broken_copy(tree: Path, replace: str, verdict: Verdict) -> None:
    assert try_row(a_row(replace=replace), tree) is verdict
    assert "min(n, 9)" in (tree / "small.py").read_text(), "the tree itself was touched"


def test_tests_that_never_end_are_ended_and_told_apart(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sabotage, "PATIENCE_S", 1)
    assert try_row(a_row(replace="exec('while True: pass')"), tree) is Verdict.HUNG


def test_a_test_that_is_red_already_proves_nothing(tree: Path) -> None:
    assert are_green([TEST], tree)
    (tree / "small.py").write_text("def limit(n):\n    return n\n")
    assert not are_green([TEST], tree)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        pytest.param([a_row(find="max(n, 9)")], "0 times", id="a text that is gone"),
        pytest.param([a_row(find="(n", replace="(m")], "2 times", id="a text that stands there more than once"),
        pytest.param([a_row(file="large.py")], "0 times", id="a file that is gone"),
        pytest.param([a_row(replace="min(n, 9)")], "changes nothing", id="a row that changes nothing"),
        pytest.param([a_row(), a_row()], "not the only row", id="two rows of one name"),
    ],
)
def test_a_row_that_no_longer_fits_is_named(tree: Path, rows: list[Sabotage], words: str) -> None:
    found = misfits(rows, tree)
    assert found
    assert all(words in line for line in found)


def test_a_row_whose_tests_are_gone_is_named(tree: Path) -> None:
    (tree / TEST).unlink()
    assert misfits([a_row()], tree) == [f"no limit: no file {TEST}"]


def test_every_row_of_this_project_fits_the_program_as_it_stands() -> None:
    assert misfits(all_rows(), ROOT) == []


def test_the_rows_of_every_area_are_tried() -> None:
    assert "the process dies one hit early" in {row.name for row in all_rows()}
