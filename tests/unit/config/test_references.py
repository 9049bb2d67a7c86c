"""References to the environment."""

import pytest

from pixivflow.config.references import filled, names
from pixivflow.errors import ConfigError


def test_every_reference_is_filled_and_a_value_is_not_looked_through_again() -> None:
    assert filled("Bearer ${A}-${B_1}", {"A": "${B_1}", "B_1": "y"}) == "Bearer ${B_1}-y"


@pytest.mark.parametrize("text", ["$A", "${}", "${1A}", "${A:-x}", "{A}", "${Ä}"])
def test_nothing_else_looks_like_a_reference(text: str) -> None:
    assert (filled(text, {}), names(text)) == (text, ())


@pytest.mark.parametrize("environ", [{}, {"A": ""}])
def test_a_missing_variable_is_named_and_never_empty_text(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"\$\{A\}.*not set") as caught:
        filled("Bearer ${A}", environ)
    assert caught.value.key == "${A}"
