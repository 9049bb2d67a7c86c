"""A fetcher before a sandbox without sockets, writing real files in real threads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import msgspec
import trio

from actors.kit.testing import Probe
from pixivflow.config.model import Download, Network, Storage, Target
from pixivflow.download.fetch import PageFetcher
from pixivflow.download.shelf import Shelf
from pixivflow.pixiv import translate
from pixivflow.pixiv.wire import DetailReply
from pixivflow.sandbox.hosts import local_bases
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.ports import Fetched, FetchedFile
from tests.edges.pixiv.stage import PORT, Played
from tests.fixtures.ledgers import StoppedClock
from tests.fixtures.staging import FakeStaging

TARGET = Target(type="illustration", tag="sea")
FIVE = 101_004
"""A work of five pages; the ordinary ones have one."""
ONE = 100_001


class Desk:
    """Where works are fetched to a folder of the test's own. `again` is the next life of the process."""

    def __init__(self, folder: Path, *, retries: int = 2, timeout_ms: int | None = None, **storage: Any) -> None:
        self.base, self.probe = folder / "illustrations", Probe()
        self.played = Played(StoppedClock())
        self.way_out: httpx.AsyncBaseTransport = self.played
        self.threads, self.staging = trio.CapacityLimiter(4), FakeStaging()
        self.storage = Storage(illustration_directory=self.base, **storage)
        self.network = Network(retries=retries, retry_delay_ms=1)
        self.download = Download(request_delay_ms=0, timeout_ms=timeout_ms)
        self.image: str | None = local_bases(PORT).img
        self.fetcher = self.again()

    def again(self) -> PageFetcher:
        return PageFetcher(
            self.storage,
            self.download,
            self.network,
            self.way_out,
            user_agent="PixivAndroidApp/5.0.234 (Android 11; Pixel 6)",
            image=self.image,
            clock=StoppedClock(),
            note=self.probe.note,
            shelf=Shelf(self.staging, StoppedClock(), self.probe.point),
        )

    def enlarge(self, size: int, number: int = ONE) -> None:
        """Let the pictures of a work have so many bytes."""
        self.played.ask.tell("/works", {"works": [{"id": number, "image_bytes": size}]})

    def picture(self, work: WorkDetail, page: int = 1) -> bytes:
        """What the host has."""
        return self.played.ask.image(work.pages[page - 1].original_url).body

    def ranges(self) -> list[str | None]:
        """From where each request for a picture asked."""
        return [request.headers.get("range") for _, request in self.played.sent if "/img/" in request.url.path]

    def age(self, by_ms: int) -> None:
        """Make every row so much older."""
        rows = self.staging.rows
        self.staging.rows = {key: msgspec.structs.replace(row, at=row.at - by_ms) for key, row in rows.items()}

    def detail(self, number: int = ONE, **changed: Any) -> WorkDetail:
        """A work of the sandbox, changed as the test wants it."""
        told = self.played.ask.call("/v1/illust/detail", illust_id=number).body
        illust = msgspec.json.decode(told, type=DetailReply).illust
        assert illust is not None
        work = translate.work(illust)
        assert work is not None
        return msgspec.structs.replace(work, **changed)

    async def fetch(self, work: WorkDetail, known: Sequence[FetchedFile] = (), target: Target = TARGET) -> Fetched:
        return await self.fetcher.fetch(work, target, known, self.threads)

    async def quiet(self) -> None:
        """Until every thread that a cancelled task left behind has ended."""
        while self.threads.borrowed_tokens:
            await trio.lowlevel.checkpoint()

    @property
    def names(self) -> list[str]:
        """Every file below the base, parts among them."""
        return sorted(path.name for path in self.base.rglob("*") if path.is_file())

    @property
    def parts(self) -> list[str]:
        """Those of them that have no final name."""
        return [name for name in self.names if name.startswith(".part-")]

    @property
    def stray(self) -> list[str]:
        """Those parts that no row names."""
        named = {Path(row.part).name for row in self.staging.rows.values()}
        return [name for name in self.parts if name not in named]

    @property
    def asked(self) -> int:
        """How many requests for pictures left."""
        return len(self.played.paths("/img/"))


def data_of(path: str) -> bytes:
    """What is in a file that was fetched."""
    return Path(path).read_bytes()


def harm(path: str, how: str) -> None:
    """Make the file another one: `gone`, `cut` or `changed`."""
    data = data_of(path)
    if how == "gone":
        Path(path).unlink()
    else:
        Path(path).write_bytes(data[:-10] if how == "cut" else bytes(len(data)))
