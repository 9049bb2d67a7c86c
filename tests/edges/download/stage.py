"""A fetcher before a sandbox without sockets, writing real files in real threads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import trio

from actors.kit.testing import Probe
from pixivflow.config.model import Download, Network, Storage, Target
from pixivflow.download.fetch import PageFetcher
from pixivflow.pixiv import translate
from pixivflow.pixiv.wire import DetailReply
from pixivflow.sandbox.hosts import local_bases
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.ports import Fetched, FetchedFile
from tests.edges.pixiv.stage import PORT, Played
from tests.fixtures.ledgers import StoppedClock

TARGET = Target(type="illustration", tag="sea")
FIVE = 101_004
"""A work of five pages; the ordinary ones have one."""
ONE = 100_001


class Desk:
    """Where works are fetched to a folder of the test's own. `again` is the next life of the process."""

    def __init__(self, folder: Path, *, retries: int = 2, **storage: Any) -> None:
        self.base, self.probe = folder / "illustrations", Probe()
        self.played = Played(StoppedClock())
        self.threads = trio.CapacityLimiter(4)
        self.storage = Storage(illustration_directory=self.base, **storage)
        self.network = Network(retries=retries, retry_delay_ms=1)
        self.image: str | None = local_bases(PORT).img
        self.timeout_ms = 60_000
        self.fetcher = self.again()

    def again(self) -> PageFetcher:
        return PageFetcher(
            self.storage,
            Download(request_delay_ms=0, timeout_ms=self.timeout_ms),
            self.network,
            self.played,
            user_agent="PixivAndroidApp/5.0.234 (Android 11; Pixel 6)",
            image=self.image,
            clock=StoppedClock(),
            note=self.probe.note,
        )

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
