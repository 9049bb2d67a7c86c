"""The parts of a target that only topic searches read."""

from typing import Literal

import msgspec

RelatedTags = Literal["always", "when_seed_insufficient", "never"]
SeedTier = Literal["off", "on"]
TagSource = Literal["seed", "cooccurrence", "autocomplete"]


class TagRelations(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which tags may join a topic: `deny` wins, then `allow`, then the source; only `deny` drops the seed."""

    allow_sources: tuple[TagSource, ...] = ("seed", "cooccurrence", "autocomplete")
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class TopicDiscovery(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the tags of a topic are found. `min_score`: 0 to 1."""

    max_tags: int = 12
    sample_works: int = 100
    cache_days: int = 7
    min_score: float = 0.22
    refresh: bool = False
    include_r18: bool = msgspec.field(default=False, name="includeR18")
    related_tags: RelatedTags = "always"
    seed_tier: SeedTier = "off"
    match_translated_names: bool = False
    tag_relations: TagRelations = TagRelations()


class CandidateCollection(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many works a topic collects. `min_metadata_score`: 0 to 3."""

    max_per_tag: int = 40
    max_candidates: int = 250
    min_metadata_score: float = 0.35


class TopicStrategy(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How fresh against how popular, 0 to 1 each."""

    freshness_weight: float = 0.4
    popularity_weight: float = 0.3


class TopicInventory(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Candidates kept for days on which a topic yields nothing."""

    enabled: bool = False
    max_age_days: int = 30
    reserve_size: int = 20
    fallback: bool = True


class TopicProfile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A topic described by hand. `primary` is never empty where the profile stands."""

    primary: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    strategy: TopicStrategy = TopicStrategy()
    inventory: TopicInventory = TopicInventory()
