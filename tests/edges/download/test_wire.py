"""From a search to files over real lines, through the transport that the daemon uses."""

from contextlib import aclosing
from pathlib import Path

import trio

from pixivflow.config.mask import Secret
from pixivflow.config.model import Download, Endpoints, Network, Pixiv, Storage
from pixivflow.download.fetch import PageFetcher
from pixivflow.download.shelf import Shelf
from pixivflow.pixiv.source import source
from pixivflow.providers.addresses import anywhere
from pixivflow.providers.egress import transport
from pixivflow.sandbox.serve import Sandbox
from pixivflow.sandbox.tokens import Refresh
from pixivflow.times import PRODUCTION
from tests.edges.download.stage import TARGET, data_of
from tests.edges.pixiv.stage import VALID, Rows, a_search
from tests.fixtures.ledgers import StoppedClock
from tests.fixtures.staging import FakeStaging


def quiet(event: str, /, **fields: object) -> None:
    pass


async def test_a_work_is_found_and_fetched_over_real_lines(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.service.state.tokens.refresh[VALID] = Refresh()
    bases = sandbox.endpoints
    pixiv = Pixiv(
        refresh_token=Secret(VALID),
        endpoints=Endpoints(api=bases.app, oauth=bases.oauth, web=bases.web, image=bases.img),
    )
    network = Network(request_pacing_ms=0, retry_delay_ms=1)
    clock, rows, threads = StoppedClock(), Rows(), trio.CapacityLimiter(2)
    way_out = transport(allow=anywhere, keep_alive=True)
    try:
        asked = source(
            pixiv,
            network,
            way_out,
            vault=rows,
            gates=rows,
            clock=clock,
            note=quiet,
            page_delay_ms=0,
            timings=PRODUCTION,
        )
        fetcher = PageFetcher(
            Storage(illustration_directory=tmp_path / "illustrations"),
            Download(request_delay_ms=0),
            network,
            way_out,
            user_agent=pixiv.user_agent,
            image=pixiv.endpoints.image,
            clock=clock,
            note=quiet,
            shelf=Shelf(FakeStaging(), clock),
        )
        async with aclosing(asked.search(a_search())) as pages:
            found = await anext(pages)
        work = await asked.detail(found[0].work)
        (file,) = (await fetcher.fetch(work, TARGET, (), threads)).files
    finally:
        await way_out.aclose()
    assert len(data_of(file.path)) == file.size == 40_000
    assert sandbox.service.state.journal.token_leaks == 0
    assert sandbox.service.state.journal.missing_referer == 0
