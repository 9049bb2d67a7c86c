"""Who owns a slot at an instant."""

import pytest

from pixivflow.ids import Owner
from pixivflow.slots.lease import is_live
from tests.fixtures.slots import ME, NOW, a_slot


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
