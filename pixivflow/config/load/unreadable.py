"""A file that cannot be read as a configuration at all."""

from pathlib import Path

from pixivflow.errors import ConfigError


class ConfigUnreadable(ConfigError):
    """The file is not there, or is no document. `position`: `line 3 column 5`, where there is one."""

    def __init__(self, path: Path, reason: str, position: str = "") -> None:
        super().__init__(str(path), None, reason)
        self.path, self.reason, self.position = path, reason, position

    def __str__(self) -> str:
        return ": ".join(part for part in (str(self.path), self.position, self.reason) if part)
