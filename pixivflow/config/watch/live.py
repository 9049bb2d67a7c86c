"""The snapshot in force."""

from pixivflow.config.model import Settings


class Live:
    """Holds one snapshot at a time. Who decides something reads it then; a run keeps the one it was given."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def current(self) -> Settings:
        """The snapshot in force now."""
        return self._settings

    def put(self, settings: Settings) -> None:
        """Let `settings` be in force, all of them at once."""
        self._settings = settings
