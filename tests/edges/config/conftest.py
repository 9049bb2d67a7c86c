"""A file to load."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pixivflow.config.load import Loaded, load
from tests.fixtures.documents import Document, a_document

NOBODY: Mapping[str, str] = {}
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a document into a folder `config` and tells where."""

    def write(document: Document, name: str = "config/c.json") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), "utf-8")
        return path

    return write


@pytest.fixture
def loaded(write: Write) -> Callable[..., Loaded]:
    """Writes a document made of the given parts and loads it in an environment."""
    return lambda environ=NOBODY, **parts: load(write(a_document(**parts)), environ)
