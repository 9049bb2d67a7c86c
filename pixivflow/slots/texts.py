"""How long the texts of a slot may be, in characters."""

from typing import Final

CELL_ERROR_MAX: Final = 1000
FALLBACK_REASON_MAX: Final = 400
REASON_MESSAGE_MAX: Final = 400
REPORT_MAX: Final = 4000
SLOT_ERROR_MAX: Final = 1000
EXECUTION_ERROR_MAX: Final = 1000


def kept_report(report: str | None) -> str | None:
    """`report` itself, or None where it is too long: half a JSON text is worth nothing."""
    return report if report is not None and len(report) <= REPORT_MAX else None
