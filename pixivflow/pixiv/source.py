"""`selection.ports.Source`: lists of works, page by page, and one work by its id."""

from collections.abc import AsyncGenerator
from typing import Final, TypeVar

import httpx
import msgspec
import trio

from actors.kit import Clock
from pixivflow.config.model import Network, Pixiv, Target
from pixivflow.errors import Cause, Outage, Rejected, Unavailable
from pixivflow.pixiv import translate, urls
from pixivflow.pixiv.auth import Account
from pixivflow.pixiv.bounds import PAGES_MOST
from pixivflow.pixiv.client import Client
from pixivflow.pixiv.gate import Gate
from pixivflow.pixiv.pace import pace_of
from pixivflow.pixiv.ports import GateRows, Note, Vault
from pixivflow.pixiv.wire import DetailReply, ListReply
from pixivflow.selection.model import WorkDetail
from pixivflow.selection.ports import Pages
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.slots.ports import SkipCode, Unfit
from pixivflow.times import Timings

PAGES_MAX: Final = 200
"""How many pages one walk reads at most."""

T = TypeVar("T")


class PixivSource:
    """Works of one account. `page_delay_ms`: between two pages of a list."""

    def __init__(self, client: Client, base: str, page_delay_ms: int, note: Note) -> None:
        self._client, self._base, self._page_delay_ms, self._note = client, base, page_delay_ms, note

    def paced(self, page_delay_ms: int) -> "PixivSource":
        """The same account, with another pause between two pages."""
        return PixivSource(self._client, self._base, page_delay_ms, self._note)

    def search(self, target: Target) -> Pages:
        """Works that match the words of the target. Ends where Pixiv's searches end."""
        url = urls.address(self._base, "/v1/search/illust", urls.search_params(target))
        return self._walk(url, "search", target.tag or "", end=urls.SEARCH_END)

    def ranking(self, target: Target, date: str | None) -> Pages:
        """The target's ranking of that day."""
        url = urls.address(self._base, "/v1/illust/ranking", urls.ranking_params(target, date))
        return self._walk(url, "ranking", f"{target.ranking_mode} {date or 'newest'}")

    async def detail(self, work: BoundWork) -> WorkDetail:
        """One work."""
        if work.work_type is WorkType.NOVEL:
            raise Rejected(work.work_id, "work", "novels are not served here")
        url = urls.address(self._base, "/v1/illust/detail", {"illust_id": work.work_id})
        reply = _read(await self._client.get(url, item=work.work_id, source="work"), DetailReply)
        found = translate.work(reply.illust) if reply.illust is not None else None
        if found is None or found.id != work.work_id:
            raise Unavailable(f"work {work.work_id}: Pixiv answered without it", cause=Cause.UNREADABLE)
        if max(found.page_count, len(found.pages)) > PAGES_MOST:
            words = f"it claims more than {PAGES_MOST} pages"
            raise Unfit(work.work_id, SkipCode.INVALID_METADATA, words)
        return found

    async def _walk(
        self, url: str, source: str, item: str, end: int | None = None
    ) -> AsyncGenerator[tuple[WorkDetail, ...], None]:
        walked = {url}
        for page in range(PAGES_MAX):
            if page:
                await trio.sleep(self._page_delay_ms / 1000)
            reply = _read(await self._client.get(url, item=item, source=source), ListReply)
            if not (works := self._works(reply, source, item)):
                return
            yield works
            following = urls.following(reply.next_url, self._base, walked)
            if following is None or (end is not None and urls.offset_of(following) >= end):
                return
            walked.add(following)
            url = following

    def _works(self, reply: ListReply, source: str, item: str) -> tuple[WorkDetail, ...]:
        """The works of a page, without the items that nobody can read; none at the end of a list.

        Errors: `Outage` for a page without a list, and for one of which nothing can be read: Pixiv speaks another
        language than before, and nobody may take that for a day without works.
        """
        if reply.illusts is None:
            raise Outage(f"{source} {item}: Pixiv answered without a list", cause=Cause.UNREADABLE)
        works = translate.works(reply.illusts)
        if dropped := len(reply.illusts) - len(works):
            self._note("pixiv.items_dropped", source=source, item=item, count=dropped)
        if dropped and not works:
            words = f"{source} {item}: none of the {dropped} works of a page can be read"
            raise Outage(words, cause=Cause.UNREADABLE)
        return works


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        words = f"Pixiv answered in a shape that nobody knows: {error}"
        raise Unavailable(words, cause=Cause.UNREADABLE) from error


def source(
    pixiv: Pixiv,
    network: Network,
    transport: httpx.AsyncBaseTransport,
    *,
    vault: Vault,
    gates: GateRows,
    clock: Clock,
    note: Note,
    page_delay_ms: int,
    timings: Timings,
    readonly: bool = False,
) -> PixivSource:
    """The source of one account over a transport that somebody else closes.

    `page_delay_ms`: `download.requestDelay`. Make one an account and process: two would not know of each other's pace.
    """
    gate = Gate(pace_of(timings, network.request_pacing_ms), gates, clock, scope=pixiv.account_id, note=note)
    account = Account(
        pixiv,
        network,
        transport,
        vault,
        clock,
        note=note,
        margin_ms=timings.token_margin_ms,
        cooldown_ms=timings.login_cooldown_ms,
        readonly=readonly,
    )
    client = Client(pixiv, network, transport, account, gate, clock, note=note)
    return PixivSource(client, urls.api_of(pixiv.endpoints), page_delay_ms, note)
