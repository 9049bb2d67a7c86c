"""`targets`."""

from typing import Final

from pixivflow.config.model import targets as words
from pixivflow.config.validate.addresses import url
from pixivflow.config.validate.judges import any_text, choice, flag, text, texts, warned_above, whole
from pixivflow.config.validate.keys.fields import FIELDS, HEADERS
from pixivflow.config.validate.keys.rooms import SCANS
from pixivflow.config.validate.keys.topics import CANDIDATE_COLLECTION, TOPIC_DISCOVERY, TOPIC_PROFILE
from pixivflow.config.validate.shape import Group, Leaf, Listed
from pixivflow.config.validate.words import day, identifier, pixiv_id

MANY_WORKS: Final = 1_000
"""More works a run than this are asked for by mistake, mostly."""

NO_MATCH_POLICY: Final = Group(
    {
        "lookbackDays": Leaf(whole(0, 7, "TARGET_NO_MATCH_LOOKBACK_INVALID")),
        "notify": Leaf(flag("TARGET_NO_MATCH_NOTIFY_INVALID")),
    }
)

TARGET_DELIVERY: Final = Group(
    {
        "target": Leaf(any_text("DELIVERY_TARGET_UNKNOWN")),
        "targets": Leaf(texts("DELIVERY_TARGETS_INVALID", least=1)),
        "fields": FIELDS,
        "richNovelPreview": Group(
            {
                "url": Leaf(url("RICH_PREVIEW_URL_INVALID")),
                "headers": HEADERS,
                "timeoutMs": Leaf(whole(1)),
                "field": Leaf(text()),
            },
            required={"url": "RICH_PREVIEW_URL_INVALID"},
        ),
    }
)

TARGET: Final = Group(
    {
        "id": Leaf(identifier("TARGET_ID_INVALID")),
        "type": Leaf(choice(words.WorkType, "TARGET_TYPE_INVALID")),
        "mode": Leaf(choice(words.TargetMode, "TARGET_MODE_INVALID")),
        "limit": Leaf(warned_above(MANY_WORKS, whole(1, code="TARGET_LIMIT_INVALID"), "TARGET_LIMIT_INVALID")),
        "candidateScanLimit": Leaf(SCANS),
        "tag": Leaf(text("TARGET_TAG_REQUIRED"), blank_is_absent=True),
        "tagRelation": Leaf(choice(words.TagRelation, "TARGET_TAG_RELATION_INVALID")),
        "searchTarget": Leaf(choice(words.SearchTarget, "TARGET_SEARCH_TARGET_INVALID")),
        "sort": Leaf(choice(words.Sort)),
        "restrict": Leaf(choice(words.Restrict)),
        "r18": Leaf(flag()),
        "excludeAI": Leaf(flag("TARGET_EXCLUDE_AI_INVALID")),
        "aiMetadataCheck": Leaf(flag("TARGET_AI_METADATA_CHECK_INVALID")),
        "maxPageCount": Leaf(whole(1, code="TARGET_MAX_PAGE_COUNT_INVALID")),
        "minBookmarks": Leaf(whole(0)),
        "startDate": Leaf(day("TARGET_START_DATE_INVALID")),
        "endDate": Leaf(day("TARGET_END_DATE_INVALID")),
        "random": Leaf(flag()),
        "illustId": Leaf(whole(1)),
        "novelId": Leaf(whole(1)),
        "seriesId": Leaf(whole(1)),
        "userId": Leaf(pixiv_id()),
        "storageMode": Leaf(choice(words.StorageMode, "TARGET_STORAGE_MODE_INVALID")),
        "rankingMode": Leaf(choice(words.RankingMode, "TARGET_RANKING_MODE_INVALID")),
        "rankingDate": Leaf(day("TARGET_RANKING_DATE_INVALID")),
        "filterTag": Leaf(text(), blank_is_absent=True),
        "topic": Leaf(text("TARGET_TOPIC_REQUIRED"), blank_is_absent=True),
        "date": Leaf(day("FIELD_INVALID")),
        "topicDiscovery": TOPIC_DISCOVERY,
        "candidateCollection": CANDIDATE_COLLECTION,
        "topicProfile": TOPIC_PROFILE,
        "languageFilter": Leaf(choice(words.LanguageFilter)),
        "languageCandidateLimit": Leaf(whole(1, 100, "TARGET_LANGUAGE_CANDIDATES_INVALID")),
        "strictLanguageFilter": Leaf(flag("TARGET_STRICT_LANGUAGE_INVALID")),
        "detectLanguage": Leaf(flag()),
        "noMatchPolicy": NO_MATCH_POLICY,
        "delivery": TARGET_DELIVERY,
    },
    required={"type": "TARGET_TYPE_REQUIRED"},
)

TARGETS: Final = Listed(TARGET, code="TARGETS_REQUIRED")
