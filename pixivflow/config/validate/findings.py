"""What a look at a document finds, and how it is told."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from pixivflow.errors import ConfigError

PREFIX: Final = "CONFIG_VALIDATION_"

SHOWN: Final = 100
"""More faults than this are counted rather than told: such a file is not one of ours."""


class Level(StrEnum):
    """Whether a finding stops a start."""

    ERROR = "error"
    WARNING = "warning"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fault. `code` with its prefix; `field` as `targets[0].tag`; `message` never holds a secret."""

    level: Level = Level.ERROR
    code: str
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"

    def plain(self) -> dict[str, str]:
        """As programs and logs are told."""
        return {"code": self.code, "field": self.field, "message": self.message}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything found, in the order of the document."""

    findings: tuple[Finding, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What must be mended."""
        return tuple(each for each in self.findings if each.level is Level.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What should be looked at."""
        return tuple(each for each in self.findings if each.level is Level.WARNING)

    def plain(self) -> dict[str, object]:
        """`{"valid": …, "errors": [{"code", "field", "message"}, …], "warnings": […]}`, as programs are told."""
        return {
            "valid": not self.errors,
            "errors": [each.plain() for each in self.errors],
            "warnings": [each.plain() for each in self.warnings],
        }


class ConfigInvalid(ConfigError):
    """A configuration with faults, all of them named: a heading with the file, then one line each."""

    def __init__(self, path: Path, findings: Iterable[Finding]) -> None:
        self.path, self.report = path, Report(findings=tuple(findings))
        errors = self.report.errors
        super().__init__(errors[0].field, None, errors[0].message)

    def __str__(self) -> str:
        errors = self.report.errors
        lines = [f"{self.path} is not valid:", *map(str, errors[:SHOWN])]
        if len(errors) > SHOWN:
            lines.append(f"... and {len(errors) - SHOWN} more")
        return "\n".join(lines)
