"""Joins the numbered cases of the specifications to the tests that prove them.

`tests/cases/<area>.toml` keeps each proved number with one line in our own words; a test that proves it carries
`@pytest.mark.case("<area>", <number>)`. A number that only one of the two knows is an error of the collection: a test
that claims an unlisted number always, a listed number without a test when the whole suite was collected.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

AREAS: Mapping[str, int] = {"slots": 120, "delivery": 119, "operate": 89, "sandbox": 24, "download": 133}
"""How many cases the specification of each area numbers."""

Cases = Mapping[str, Mapping[int, str]]
"""The listed cases: area -> number -> line."""
Claims = Mapping[tuple[object, ...], str]
"""What the tests say they prove: (area, number) -> the id of one such test. A careless mark may hold anything."""


class CasesRefused(ValueError):
    """A file of cases that cannot be read as such."""


def read_cases(folder: Path) -> dict[str, dict[int, str]]:
    """The listed cases of every area; an area without a file has none.

    Errors: `CasesRefused` naming the file and what is wrong with it.
    """
    for path in sorted(folder.glob("*.toml")):
        if path.stem not in AREAS:
            raise CasesRefused(f"{path.name}: no area has this name")
    return {area: _read_area(folder / f"{area}.toml", total) for area, total in AREAS.items()}


def _read_area(path: Path, total: int) -> dict[int, str]:
    if not path.exists():
        return {}
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CasesRefused(f"{path.name}: {error}") from error
    lines = {key: line for key, line in table.get("cases", {}).items() if _is_case(key, line, total)}
    if table != {"cases": lines}:
        raise CasesRefused(f"{path.name}: only a table [cases] of lines, numbered 1 to {total}, stands here")
    if list(lines) != sorted(lines, key=int):
        raise CasesRefused(f"{path.name}: the numbers are not in order")
    return {int(key): line for key, line in lines.items()}


def _is_case(key: str, line: object, total: int) -> bool:
    return key.isdecimal() and str(int(key)) == key and 1 <= int(key) <= total and isinstance(line, str) and line != ""


def faults(cases: Cases, claims: Claims, *, whole: bool) -> list[str]:
    """What does not agree, one line each. `whole`: all tests were collected, so a proof that is missing is missing."""
    listed = {(area, number) for area, lines in cases.items() for number in lines}
    unlisted = [
        f"{test} claims {' '.join(map(str, claim))}, which no file of tests/cases lists"
        for claim, test in claims.items()
        if claim not in listed
    ]
    unproved = [f"{area} {number} is listed, but no test claims it" for area, number in sorted(listed - set(claims))]
    return unlisted + unproved if whole else unlisted


def totals(cases: Cases) -> str:
    """How far we are, in one line: `slots 23 of 120, delivery 5 of 119`."""
    return ", ".join(f"{area} {len(lines)} of {AREAS[area]}" for area, lines in cases.items())


def claims_of(items: Iterable[pytest.Item]) -> Claims:
    return {mark.args: item.nodeid for item in items for mark in item.iter_markers("case")}


def is_whole(config: pytest.Config) -> bool:
    """Whether the invocation asks for all test folders; a choice by -k or -m still collects all of them first."""
    folders = {(config.rootpath / each).resolve() for each in config.getini("testpaths")}
    asked = {(config.invocation_params.dir / each).resolve() for each in config.args}
    narrowed = any(config.getoption(each, None) for each in ("ignore", "ignore_glob", "lf"))
    return not narrowed and (config.rootpath.resolve() in asked or folders <= asked)


def _folder(config: pytest.Config) -> Path:
    return config.rootpath / "tests" / "cases"


def pytest_report_header(config: pytest.Config) -> str:
    try:
        return f"cases proved: {totals(read_cases(_folder(config)))}"
    except CasesRefused as refused:
        return f"cases proved: {refused}"


@pytest.hookimpl(tryfirst=True)  # before anything is deselected
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Report disagreement as an error of the collection, which stops a plain run and reddens a distributed one."""
    try:
        cases = read_cases(_folder(config))
        whole = is_whole(config) and session.testsfailed == 0  # a file that did not import takes its claims with it
        found = faults(cases, claims_of(items), whole=whole)
    except CasesRefused as refused:
        found = [str(refused)]
    if found:
        report = pytest.CollectReport("tests/cases", "failed", "\n".join(found), None)
        config.hook.pytest_collectreport(report=report)
