"""How an answer is read: `ack`, and `success`, which once did that and no longer does anything."""

from typing import Final

from pixivflow.config.validate.judges import is_whole, judge, text
from pixivflow.config.validate.shape import Group, Leaf

ACK: Final = Group(
    {name: Leaf(text()) for name in ("dataPath", "idField", "statusField", "reusedField", "reasonField", "keyField")}
)


def _is_success(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    statuses, path = value.get("statuses", []), value.get("jsonPath", "")
    return isinstance(statuses, list) and all(map(is_whole, statuses)) and isinstance(path, str)


SUCCESS: Final = Leaf(
    judge(_is_success, "an object with a list `statuses` and a text `jsonPath`"),
    note="is no longer read: what a receiver answers decides, as `ack` says",
)
