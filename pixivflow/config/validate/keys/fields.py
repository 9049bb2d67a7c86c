"""What targets and routes share: fields of a submission, and headers."""

from typing import Final

from pixivflow.config.headers import is_header_name, is_header_value
from pixivflow.config.validate.judges import is_number, judge
from pixivflow.config.validate.shape import Leaf, Named


def _is_field(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, str) for each in value)
    return isinstance(value, str | bool) or is_number(value)


FIELDS: Final = Named(Leaf(judge(_is_field, "text, a number, true, false, or a list of texts")))

HEADERS: Final = Named(
    Leaf(judge(is_header_value, "text without line breaks and other control characters")),
    name=judge(is_header_name, "the name of a header: letters, digits and hyphens, without gaps or colons"),
)
