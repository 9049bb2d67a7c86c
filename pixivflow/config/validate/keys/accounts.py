"""`pixiv` and `network`."""

from typing import Final

from pixivflow.config.model.accounts import ProxyProtocol
from pixivflow.config.validate.addresses import host, plain_url
from pixivflow.config.validate.judges import any_text, choice, clamped, flag, text, whole
from pixivflow.config.validate.shape import Group, Leaf

PIXIV: Final = Group(
    {
        "clientId": Leaf(text("PIXIV_CLIENT_ID_REQUIRED")),
        "clientSecret": Leaf(text("PIXIV_CLIENT_SECRET_REQUIRED")),
        "deviceToken": Leaf(text("PIXIV_DEVICE_TOKEN_REQUIRED"), blank_is_absent=True),
        "refreshToken": Leaf(any_text("PIXIV_REFRESH_TOKEN_REQUIRED")),
        "userAgent": Leaf(text("PIXIV_USER_AGENT_REQUIRED")),
        "accountId": Leaf(text()),
        "endpoints": Group({name: Leaf(plain_url()) for name in ("api", "oauth", "web", "image")}),
    },
    code="PIXIV_REQUIRED",
)

PROXY: Final = Group(
    {
        "enabled": Leaf(flag()),
        "host": Leaf(host("PROXY_HOST_REQUIRED")),
        "port": Leaf(whole(1, 65_535, "PROXY_PORT_INVALID")),
        "protocol": Leaf(choice(ProxyProtocol, "PROXY_PROTOCOL_INVALID")),
        "username": Leaf(any_text()),
        "password": Leaf(any_text()),
    },
    unless=lambda found: found.get("enabled") in (False, None),
)

NETWORK: Final = Group(
    {
        "timeoutMs": Leaf(clamped(1_000, 300_000)),
        "retries": Leaf(clamped(0, 10)),
        "retryDelay": Leaf(clamped(0)),
        "requestPacingMs": Leaf(clamped(0)),
        "proxy": PROXY,
    }
)
