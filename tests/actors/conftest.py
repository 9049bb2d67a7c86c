"""Fixtures that several files of this folder ask for."""

import pytest

from tests.actors.fake_outbox import FakeOutbox, Sender
from tests.actors.trees import Log


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def outbox() -> FakeOutbox:
    return FakeOutbox()


@pytest.fixture
def sender() -> Sender:
    return Sender()
