"""The parts of a target that only topic searches read. One code stands for each block."""

from typing import Final

from pixivflow.config.model.topics import RelatedTags, SeedTier, TagSource
from pixivflow.config.validate.judges import choice, flag, number, subset, texts, whole
from pixivflow.config.validate.shape import Group, Leaf

_DISCOVERY: Final = "TOPIC_DISCOVERY_INVALID"
_COLLECTION: Final = "CANDIDATE_COLLECTION_INVALID"
_PROFILE: Final = "TOPIC_PROFILE_INVALID"

TOPIC_DISCOVERY: Final = Group(
    {
        "maxTags": Leaf(whole(1, 40, _DISCOVERY)),
        "sampleWorks": Leaf(whole(10, 200, _DISCOVERY)),
        "cacheDays": Leaf(whole(1, 90, _DISCOVERY)),
        "minScore": Leaf(number(0, 1, _DISCOVERY)),
        "refresh": Leaf(flag(_DISCOVERY)),
        "includeR18": Leaf(flag(_DISCOVERY)),
        "relatedTags": Leaf(choice(RelatedTags, _DISCOVERY)),
        "seedTier": Leaf(choice(SeedTier, _DISCOVERY)),
        "matchTranslatedNames": Leaf(flag(_DISCOVERY)),
        "tagRelations": Group(
            {
                "allowSources": Leaf(subset(TagSource, _DISCOVERY)),
                "allow": Leaf(texts(_DISCOVERY)),
                "deny": Leaf(texts(_DISCOVERY)),
            },
            code=_DISCOVERY,
        ),
    },
    code=_DISCOVERY,
)

CANDIDATE_COLLECTION: Final = Group(
    {
        "maxPerTag": Leaf(whole(5, 100, _COLLECTION)),
        "maxCandidates": Leaf(whole(20, 500, _COLLECTION)),
        "minMetadataScore": Leaf(number(0, 3, _COLLECTION)),
    },
    code=_COLLECTION,
)

TOPIC_PROFILE: Final = Group(
    {
        "primary": Leaf(texts(_PROFILE, least=1)),
        "related": Leaf(texts(_PROFILE)),
        "strategy": Group(
            {
                "freshnessWeight": Leaf(number(0, 1, _PROFILE)),
                "popularityWeight": Leaf(number(0, 1, _PROFILE)),
            },
            code=_PROFILE,
        ),
        "inventory": Group(
            {
                "enabled": Leaf(flag(_PROFILE)),
                "maxAgeDays": Leaf(whole(1, 365, _PROFILE)),
                "reserveSize": Leaf(whole(1, 100, _PROFILE)),
                "fallback": Leaf(flag(_PROFILE)),
            },
            code=_PROFILE,
        ),
    },
    code=_PROFILE,
)
