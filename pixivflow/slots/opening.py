"""The slot that stands for an occurrence, as it is opened."""

from collections.abc import Sequence
from typing import Final

from pixivflow.config.texts import stored_text
from pixivflow.ids import TargetId
from pixivflow.scheduling.occurrence import Occurrence
from pixivflow.slots.model import Slot

LABEL_MAX: Final = 80
"""The longest name, in characters, that whoever asks may give a slot. It is for people alone."""


def slot_for(occurrence: Occurrence, targets: Sequence[TargetId], source: str, label: str | None = None) -> Slot:
    """The slot of `occurrence`, not yet written. `source`: cron, http, manual or catchup; nothing depends on it.

    A `label` that is blank, or None, leaves the slot the name of its hour.
    """
    return Slot(
        id=occurrence.slot_id,
        schedule_id=occurrence.schedule_id,
        occurrence_at=occurrence.at,
        occurrence_date=occurrence.date,
        occurrence_label=occurrence.label,
        timezone=occurrence.timezone,
        target_ids=tuple(targets),
        trigger_source=source,
        slot_date=occurrence.date,
        slot_name=stored_text(label or "", LABEL_MAX) or occurrence.label,
    )
