"""`storage` and `download`."""

from typing import Final

from pixivflow.config.model.files import CoverRule, MaterializationPolicy, NovelEpub, Organization, UgoiraFormat
from pixivflow.config.validate.judges import choice, clamped, flag, number, text
from pixivflow.config.validate.keys.rooms import PASSES, SCANS
from pixivflow.config.validate.shape import Group, Leaf
from pixivflow.config.validate.words import path

STORAGE: Final = Group(
    {
        "databasePath": Leaf(path()),
        "downloadDirectory": Leaf(path("DOWNLOAD_DIRECTORY_REQUIRED")),
        "illustrationDirectory": Leaf(path()),
        "novelDirectory": Leaf(path()),
        "illustrationOrganization": Leaf(choice(Organization, "ORGANIZATION_INVALID")),
        "novelOrganization": Leaf(choice(Organization, "ORGANIZATION_INVALID")),
        "cacheRetentionDays": Leaf(number(0, code="CACHE_RETENTION_INVALID")),
        "cacheMaxSizeMB": Leaf(number(0, code="CACHE_MAX_SIZE_INVALID")),
    },
    code="STORAGE_REQUIRED",
)

DOWNLOAD: Final = Group(
    {
        "concurrency": Leaf(clamped(1, 10, "DOWNLOAD_CONCURRENCY_INVALID")),
        "requestDelay": Leaf(clamped(0, code="DOWNLOAD_REQUEST_DELAY_INVALID")),
        "dynamicConcurrency": Leaf(flag()),
        "minConcurrency": Leaf(clamped(1, code="DOWNLOAD_MIN_CONCURRENCY_INVALID")),
        "maxRetries": Leaf(clamped(0, 10, "DOWNLOAD_MAX_RETRIES_INVALID")),
        "retryDelay": Leaf(clamped(0)),
        "timeout": Leaf(clamped(1)),
        "candidateScanLimit": Leaf(SCANS),
        "maxFallbackStages": Leaf(PASSES),
        "materializationPolicy": Leaf(choice(MaterializationPolicy)),
        "novelCover": Group(
            {
                "unknown": Leaf(choice(CoverRule, "NOVEL_COVER_INVALID")),
                "probeFailed": Leaf(choice(CoverRule, "NOVEL_COVER_INVALID")),
            },
            code="NOVEL_COVER_INVALID",
        ),
        "novelEpub": Leaf(choice(NovelEpub)),
        "ugoiraFormat": Leaf(choice(UgoiraFormat)),
        "assetNamespace": Leaf(text()),
    }
)
