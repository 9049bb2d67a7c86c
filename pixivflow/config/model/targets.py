"""What one target asks for."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from pixivflow.config.mask import Secret
from pixivflow.config.model.topics import CandidateCollection, TopicDiscovery, TopicProfile
from pixivflow.ids import RouteName, TargetId

WorkType = Literal["illustration", "novel"]
TargetMode = Literal["search", "ranking", "topic", "follow", "bookmarks", "series"]
TagRelation = Literal["and", "or"]
SearchTarget = Literal["partial_match_for_tags", "exact_match_for_tags", "title_and_caption"]
Sort = Literal["date_desc", "date_asc", "popular_desc"]
Restrict = Literal["public", "private", "all"]
LanguageFilter = Literal["chinese", "non-chinese"]
StorageMode = Literal["persistent", "cache"]
RankingMode = Literal[
    "day",
    "week",
    "month",
    "day_male",
    "day_female",
    "day_ai",
    "day_manga",
    "week_original",
    "week_rookie",
    "day_r18",
    "day_male_r18",
    "day_female_r18",
    "day_r18_ai",
    "week_r18",
    "week_r18g",
]
FieldValue = str | int | float | bool | tuple[str, ...]
"""What a field of a submission may hold; texts may hold `{{name}}`."""


class NoMatchPolicy(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an empty result does: look back some days, tell somebody."""

    lookback_days: int = 0
    notify: bool = False


class RichNovelPreview(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a novel's rich preview is made. `url` and header values may hold `${NAME}`."""

    url: str
    headers: Mapping[str, Secret] = {}
    timeout_ms: int = 60_000
    field: str = "novel_preview_url"


class TargetDelivery(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a target's works go: `targets` where it stands, `target` otherwise. `fields` replace those of the route."""

    target: str | None = None
    targets: tuple[str, ...] | None = None
    fields: Mapping[str, FieldValue] = {}
    rich_novel_preview: RichNovelPreview | None = None


class Target(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing to acquire per run.

    Shape: an `id` None belongs to the implicit plan and to `download` alone; dates are `YYYY-MM-DD`, `TODAY` or
    `YESTERDAY`, days in Japan, the words resolved when a run starts; None is what the file leaves out.
    """

    id: TargetId | None = None
    type: WorkType
    mode: TargetMode = "search"
    limit: int | None = None
    candidate_scan_limit: int | None = None
    tag: str | None = None
    tag_relation: TagRelation = "and"
    search_target: SearchTarget = "partial_match_for_tags"
    sort: Sort = "date_desc"
    restrict: Restrict = "public"
    r18: bool = False
    exclude_ai: bool = msgspec.field(default=False, name="excludeAI")
    ai_metadata_check: bool = False
    max_page_count: int | None = None
    min_bookmarks: int | None = None
    start_date: str | None = None
    end_date: str | None = None
    random: bool = False
    illust_id: int | None = None
    novel_id: int | None = None
    series_id: int | None = None
    user_id: str | None = None
    storage_mode: StorageMode = "persistent"
    ranking_mode: RankingMode = "day"
    ranking_date: str | None = None
    filter_tag: str | None = None
    topic: str | None = None
    date: str | None = None
    topic_discovery: TopicDiscovery = TopicDiscovery()
    candidate_collection: CandidateCollection = CandidateCollection()
    topic_profile: TopicProfile | None = None
    language_filter: LanguageFilter | None = None
    language_candidate_limit: int = 20
    strict_language_filter: bool = False
    detect_language: bool = True
    no_match_policy: NoMatchPolicy = NoMatchPolicy()
    delivery: TargetDelivery = TargetDelivery()

    @property
    def routes(self) -> tuple[RouteName, ...]:
        """Where works of this target are delivered, in order, each once; nowhere unless files are only cached."""
        return named_routes(self.delivery) if self.storage_mode == "cache" else ()

    @property
    def primary_route(self) -> RouteName | None:
        """The route that notices about this target go to, also where its works are not delivered."""
        entries = (*(self.delivery.targets or ()), self.delivery.target or "")
        return next((RouteName(each.strip()) for each in entries if each.strip()), None)

    @property
    def label(self) -> str:
        """How people call what this target looks for; empty when the file says nothing of the kind."""
        return self.tag or self.filter_tag or self.topic or ""


def named_routes(delivery: TargetDelivery) -> tuple[RouteName, ...]:
    """The routes that a target names. A list that is not empty stands alone, even when all its entries are blank."""
    entries = delivery.targets or ((delivery.target,) if delivery.target else ())
    return tuple(dict.fromkeys(RouteName(each.strip()) for each in entries if each.strip()))
