"""Who owns a slot at an instant."""

import pytest

from pixivflow.ids import Owner
from pixivflow.slots.lease import is_foreign, is_live
from tests.fixtures.slots import ME, NOW, OTHER, a_slot


@pytest.mark.parametrize(
    ("owner", "until", "live"),
    [
        pytest.param(ME, NOW + 1, True, id="a lease that ends later lives"),
        pytest.param(ME, NOW, False, id="a lease that ends now has ended"),
        pytest.param(ME, NOW - 1, False, id="a lease that ended before has ended"),
        pytest.param(None, None, False, id="no lease"),
    ],
)
def test_a_lease_lives_until_its_end(owner: Owner | None, until: int | None, live: bool) -> None:
    assert is_live(a_slot(lease_owner=owner, lease_until=until), NOW) is live


@pytest.mark.parametrize(
    ("holder", "until", "asking", "foreign"),
    [
        pytest.param(OTHER, NOW + 1, ME, True, id="somebody else's"),
        pytest.param(ME, NOW + 1, ME, False, id="one's own"),
        pytest.param(OTHER, NOW, ME, False, id="somebody else's that has ended"),
        pytest.param(OTHER, NOW + 1, None, True, id="any live one, to whoever names no owner"),
        pytest.param(None, None, None, False, id="none at all"),
    ],
)
def test_a_live_lease_of_somebody_else_is_foreign(
    holder: Owner | None, until: int | None, asking: Owner | None, foreign: bool
) -> None:
    assert is_foreign(a_slot(lease_owner=holder, lease_until=until), asking, NOW) is foreign
