"""`python -m tests.cases_report [--missing]`: how many numbered cases of each specification have a test."""

import sys
from pathlib import Path

from tests.case_hook import AREAS, read_cases

FOLDER = Path(__file__).parent / "cases"


def lines(folder: Path, *, missing: bool) -> list[str]:
    """One line an area; with `missing`, a second one with the numbers that no test proves."""
    report = []
    for area, proved in read_cases(folder).items():
        report.append(f"{area} {len(proved)} of {AREAS[area]}")
        if missing:
            report.append("  missing: " + " ".join(str(n) for n in range(1, AREAS[area] + 1) if n not in proved))
    return report


if __name__ == "__main__":
    print("\n".join(lines(FOLDER, missing="--missing" in sys.argv[1:])))
