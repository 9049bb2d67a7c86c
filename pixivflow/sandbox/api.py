"""The data routes below `/app`: who may ask, what there is to ask for, and what comes back.

An answer depends on the call, the world and the day alone, so it is kept until the world changes.
"""

from collections.abc import Callable
from typing import Final

from pixivflow.sandbox import illusts
from pixivflow.sandbox.calls import Answer, Call
from pixivflow.sandbox.clock import day_number
from pixivflow.sandbox.envelope import no_end_point, oauth_reply
from pixivflow.sandbox.message import Refused, Reply, Request, json_reply
from pixivflow.sandbox.tokens import Tokens

ROUTES: Final[dict[str, Callable[[Call], Answer]]] = {
    "/v1/illust/detail": illusts.detail,
    "/v1/search/illust": illusts.search,
    "/v1/illust/ranking": illusts.ranked,
    "/v1/user/illusts": illusts.of_user,
    "/v1/user/detail": illusts.user_detail,
    "/v2/illust/follow": illusts.follow,
    "/v1/user/bookmarks/illust": illusts.bookmarks,
    "/v1/illust/series": illusts.series,
    "/v2/illust/related": illusts.related,
    "/v1/ugoira/metadata": illusts.ugoira,
    "/v2/search/autocomplete": illusts.autocomplete,
    "/v1/trending-tags/illust": illusts.trending,
}
LISTS: Final = ("illusts", "novels")
"""The keys that hold the items of a page."""


def answer(call: Call, request: Request, tokens: Tokens) -> Reply:
    """The answer to a data call; refusals are answers too."""
    try:
        route = ROUTES.get(call.path)
        if route is None or request.method != "GET":
            raise no_end_point()
        check_bearer(request, tokens, call)
        return _kept(call, route)
    except Refused as refused:
        return refused.reply


def _kept(call: Call, route: Callable[[Call], Answer]) -> Reply:
    key = (call.path, call.query, call.bases, call.switches, day_number(call.now))
    if key not in call.world.derived:
        call.world.derived[key] = json_reply(route(call))
    reply: Reply = call.world.derived[key]
    return reply


def check_bearer(request: Request, tokens: Tokens, call: Call) -> None:
    """The real service answers an expired token with 400 and a text, not with 401. Errors: `Refused`."""
    if request.bearer is None:
        raise Refused(oauth_reply("invalid_request"))
    if not tokens.is_good(request.bearer, call.now):
        raise Refused(oauth_reply("invalid_grant", call.switches.auth_status))
