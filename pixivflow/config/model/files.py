"""Where files go and how works are fetched."""

from pathlib import Path
from typing import Literal

import msgspec

Organization = Literal[
    "flat",
    "byAuthor",
    "byTag",
    "byDate",
    "byDay",
    "byDownloadDate",
    "byDownloadDay",
    "byAuthorAndTag",
    "byDateAndAuthor",
    "byDayAndAuthor",
    "byDownloadDateAndAuthor",
    "byDownloadDayAndAuthor",
]
MaterializationPolicy = Literal["eager", "on-demand"]
CoverRule = Literal["skip", "keep"]
NovelEpub = Literal["off", "work", "series"]
UgoiraFormat = Literal["gif", "webp", "apng", "zip"]


class Storage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where things are kept. In a loaded snapshot every path is absolute.

    Units: days; mebibytes. 0 switches that kind of pruning off.
    """

    database_path: Path = Path("data/pixiv-downloader.db")
    download_directory: Path = Path("downloads")
    illustration_directory: Path = Path("downloads/illustrations")
    novel_directory: Path = Path("downloads/novels")
    illustration_organization: Organization = "flat"
    novel_organization: Organization = "flat"
    cache_retention_days: float = 14
    cache_max_size_mib: float = msgspec.field(default=0, name="cacheMaxSizeMB")


class NovelCover(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What happens to a cover that cannot be told from a generated one, or whose bytes never came."""

    unknown: CoverRule = "skip"
    probe_failed: CoverRule = "skip"


class Download(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How works are fetched.

    Units: milliseconds. `timeout_ms`: for one attempt at a file; None: as long as that kind of file usually gets.
    `candidate_scan_limit`: works looked at per wanted one.
    """

    concurrency: int = 3
    request_delay_ms: int = msgspec.field(default=500, name="requestDelay")
    dynamic_concurrency: bool = True
    min_concurrency: int = 1
    max_retries: int = 3
    retry_delay_ms: int = msgspec.field(default=2_000, name="retryDelay")
    timeout_ms: int | None = msgspec.field(default=None, name="timeout")
    candidate_scan_limit: int = 5
    max_fallback_stages: int = 3
    materialization_policy: MaterializationPolicy = "eager"
    novel_cover: NovelCover = NovelCover()
    novel_epub: NovelEpub = "off"
    ugoira_format: UgoiraFormat = "gif"
    asset_namespace: str = "pixiv"
