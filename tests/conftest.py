"""What holds for every test: joined cases, the word about mounts, shared fixtures, properties without a stopwatch."""

import pkgutil

from hypothesis import settings

from tests import fixtures

FIXTURES = [f"tests.fixtures.{each.name}" for each in pkgutil.iter_modules(fixtures.__path__)]
pytest_plugins = ["tests.case_hook", "tests.mounting", *FIXTURES]

settings.register_profile("pixivflow", deadline=None, print_blob=True)
settings.load_profile("pixivflow")
