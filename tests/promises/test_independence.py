"""The checkers know only the wire and the file."""

import ast
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
ALLOWED = {*sys.stdlib_module_names, "tests", "pytest"}


def imported(path: Path) -> set[str]:
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(node.module or "")
    return found


def test_no_checker_imports_what_it_judges() -> None:
    names = {name for path in FOLDER.glob("*.py") for name in imported(path)}
    assert {name.partition(".")[0] for name in names} <= ALLOWED
    assert {name for name in names if name.startswith("tests") and not name.startswith("tests.promises")} == set()
