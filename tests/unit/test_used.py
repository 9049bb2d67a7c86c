"""What the program defines it uses, or it says what for."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

BY_NAME = {
    *(f"pixivflow.cli.{name}.command" for name in ("demo", "download", "sandbox", "scheduler", "status")),
    "pixivflow.cli.config.validate",
    "pixivflow.daemon.outside.to_receivers",
}
"""Taken by their name from a module that is imported late, or by the command line."""

FOR_TESTS = {
    "actors.kit.testing.Probe",
    "actors.kit.testing.running",
    "pixivflow.ledger.inline.open_inline",
}
"""Made for tests, also for those of whoever builds on this."""

NOT_ASKED_YET = {
    "pixivflow.ledger.cancels.cancel_slot",
    "pixivflow.ledger.orders.cancel",
    "pixivflow.ledger.orders.requeue",
    "pixivflow.ledger.orders.revive",
}
"""Orders of a consumer or an operator: promised, proved against the ledger, and without a surface that takes them."""


def sources(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    """Every module of the folders by its dotted name."""
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        yield dotted.removesuffix(".__init__"), ast.parse(path.read_text())


def defined(module: ast.Module) -> Iterator[str]:
    """The names that a module gives itself at its top."""
    for node in module.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def used(modules: list[tuple[str, ast.Module]]) -> Counter[str]:
    """Every dotted name that is read: in its own module, imported from it, or taken from it."""
    counted: Counter[str] = Counter()
    for module, tree in modules:
        imported: dict[str, str] = {}
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                imported |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        counted.update(imported.values())
        for node in nodes:
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in imported:
                    counted[f"{imported[name]}.{attr}"] += 1
                case ast.Name(id=name, ctx=ast.Load()):
                    counted[f"{module}.{name}"] += 1
    return counted


def test_no_name_is_defined_that_nothing_but_a_test_uses() -> None:
    program = list(sources("actors", "pixivflow"))
    counted = used([*program, *sources("bench")])
    names = {f"{module}.{name}" for module, tree in program for name in defined(tree) if not name.startswith("__")}
    assert {name for name in names if not counted[name]} == BY_NAME | FOR_TESTS | NOT_ASKED_YET
