"""The login service: tokens for a refresh token or a code, and the page that a browser gets its code from."""

import base64
import hashlib
import hmac
from typing import Any, Final

from pixivflow.sandbox.clock import from_text
from pixivflow.sandbox.hosts import Bases
from pixivflow.sandbox.message import Refused, Reply, Request, form_of, json_reply, with_query
from pixivflow.sandbox.model import VIEWER
from pixivflow.sandbox.tokens import Tokens

# Public constants of the mobile application, the same in every open client.
CLIENT_ID: Final = "MOBrBDS8blbauoSck0ZfDbtuzpyT"
CLIENT_SECRET: Final = "lsACyCD94FhDUtGTXi3QzcFE2uU1hqtDaKeqrdwj"  # noqa: S105
HASH_SECRET: Final = "28c1fdd170a5204386cb1313c7077b34f83e4aaf4aa829ce78c231e05b0bae2c"  # noqa: S105
REDIRECT_URI: Final = "https://app-api.pixiv.net/web/v1/users/auth/pixiv/callback"
SKEW_MS: Final = 300_000
LOGIN: Final = "/web/v1/login"
CALLBACK: Final = "/web/v1/users/auth/pixiv/callback"


def token(request: Request, tokens: Tokens, now: int, ttl_s: int, *, strict: bool) -> Reply:
    """`POST /auth/token`. `strict`: whether a refresh must carry a true client time and hash."""
    form = form_of(request)
    try:
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            raise refusal("invalid_client", "Invalid client", 1501)
        match form.get("grant_type"):
            case "refresh_token":
                if strict:
                    check_client_time(request, now)
                refresh = _refreshed(form.get("refresh_token", ""), tokens)
            case "authorization_code":
                refresh = _logged_in(form, tokens, now)
            case _:
                raise refusal("unsupported_grant_type", "Unsupported grant type", 1502)
    except Refused as refused:
        return refused.reply
    return json_reply(_granted(tokens.issue(now + ttl_s * 1_000), refresh, ttl_s))


def refusal(error: str, message: str, code: int) -> Refused:
    system = {"message": message, "code": code}
    return Refused(json_reply({"has_error": True, "errors": {"system": system}, "error": error}, 400))


def invalid_refresh() -> Refused:
    return refusal("invalid_grant", "Invalid refresh token", 1508)


def check_client_time(request: Request, now: int) -> None:
    """The client says when it asks, and proves that it knows the hash's secret. Errors: `Refused`."""
    told = request.headers.get("x-client-time", "")
    right = hashlib.md5((told + HASH_SECRET).encode(), usedforsecurity=False).hexdigest()
    try:
        near = abs(from_text(told) - now) <= SKEW_MS
    except ValueError:
        near = False
    if not near or not hmac.compare_digest(right.encode(), request.headers.get("x-client-hash", "").encode()):
        raise refusal("invalid_request", "Invalid client time or hash", 1503)


def _refreshed(old: str, tokens: Tokens) -> str:
    known = tokens.refresh.get(old)
    if known is None or known.is_revoked:
        raise invalid_refresh()
    return tokens.successor(old)


def _logged_in(form: dict[str, str], tokens: Tokens, now: int) -> str:
    redeemed = tokens.redeem(form.get("code", ""), challenge_of(form.get("code_verifier", "")), now)
    if not redeemed or form.get("redirect_uri") != REDIRECT_URI:
        raise refusal("invalid_grant", "Invalid code", 1509)
    return tokens.first()


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a PKCE verifier."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def _granted(access: str, refresh: str, ttl_s: int) -> dict[str, Any]:
    """The service says everything twice; clients read the one or the other."""
    user = {"id": str(VIEWER), "name": "tester", "account": "tester"}
    more = {
        "mail_address": "t@example.invalid",
        "is_premium": False,
        "x_restrict": 2,
        "is_mail_authorized": True,
        "require_policy_agreement": False,
    }
    grant = {
        "access_token": access,
        "expires_in": ttl_s,
        "token_type": "bearer",
        "scope": "",
        "refresh_token": refresh,
    }
    pictures = {"profile_image_urls": {"px_16x16": "", "px_50x50": "", "px_170x170": ""}}
    return {**grant, "user": {**pictures, **user, **more}, "response": {**grant, "user": user}}


def login_page(request: Request, path: str, tokens: Tokens, bases: Bases, now: int) -> Reply:
    """The two pages of a login in a browser: one sends to the other, and that one to the application."""
    params = request.params
    if path == CALLBACK:
        return _redirect(with_query("pixiv://account/login", (), code=params.get("code", ""), via="login"))
    if params.get("code_challenge_method") != "S256" or not params.get("code_challenge"):
        return Reply(status=400, headers=(("Content-Type", "text/plain; charset=UTF-8"),), body=b"code_challenge")
    code = tokens.code(params["code_challenge"], now)
    return _redirect(with_query(bases.app + CALLBACK, (), state="s1", code=code))


def _redirect(to: str) -> Reply:
    return Reply(status=302, headers=(("Location", to),))
