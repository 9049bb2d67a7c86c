"""What an event tells stands in a field of its own name."""

import ast
from pathlib import Path

import pixivflow
from pixivflow.observe.log import OWN

ROOT = Path(pixivflow.__file__).parent


def test_no_event_has_a_field_that_a_line_of_the_log_needs_for_itself() -> None:
    taken = [
        f"{path.relative_to(ROOT)}:{call.lineno} {keyword.arg}"
        for path in sorted(ROOT.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func).lower().endswith("note")
        for keyword in call.keywords
        if keyword.arg in OWN
    ]
    assert taken == []
