"""Settings from parts of a document, as a file with them would be read."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pixivflow.config.load import Loaded, load
from pixivflow.config.model import Settings


def configured(**parts: Any) -> Settings:
    """A valid configuration with `parts` in it. Errors: `ConfigError` when they make it invalid."""
    return loaded(**parts).settings


def loaded(environ: dict[str, str] | None = None, **parts: Any) -> Loaded:
    """The same, with what was written and what was warned of."""
    one = {"id": "kept", "type": "illustration", "tag": "x", "limit": 1}
    whole: dict[str, Any] = {"targets": [one], **parts}
    whole["pixiv"] = {"refreshToken": "rt", **whole.get("pixiv", {})}
    with TemporaryDirectory() as name:
        path = Path(name) / "config.json"
        path.write_text(json.dumps(whole))
        return load(path, environ or {})
