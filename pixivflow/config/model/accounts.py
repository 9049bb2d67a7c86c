"""Who we are towards Pixiv, and how requests travel."""

from typing import Literal

import msgspec

from pixivflow.config.mask import Secret

ProxyProtocol = Literal["http", "https", "socks5"]

PLACEHOLDER = "YOUR_REFRESH_TOKEN"
"""What a fresh file holds in place of a refresh token."""


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Where Pixiv's services are, for tests and the sandbox; None stands for the real host.

    Shape: `http://host:port` or `https://host`, maybe with a path; no user, query or fragment.
    """

    api: str | None = None
    oauth: str | None = None
    web: str | None = None
    image: str | None = None


class Pixiv(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The account. The client's id and secret are the public ones of the official app.

    Shape: `account_id` names the account for admission (`pixiv-account:<id>`) and is never a secret.
    Source: the app's constants as open clients have published them.
    """

    client_id: str = "MOBrBDS8blbauoSck0ZfDbtuzpyT"
    client_secret: Secret = Secret("lsACyCD94FhDUtGTXi3QzcFE2uU1hqtDaKeqrdwj")
    device_token: str = "pixiv"  # noqa: S105 - the name of the device, no secret
    refresh_token: Secret = Secret(PLACEHOLDER)
    user_agent: str = "PixivAndroidApp/5.0.234 (Android 11; Pixel 6)"
    account_id: str = "default"
    endpoints: Endpoints = Endpoints()

    @property
    def has_token(self) -> bool:
        """Whether `refresh_token` may be one: neither the placeholder nor shorter than ten characters."""
        return is_token(self.refresh_token.reveal())


class Proxy(msgspec.Struct, frozen=True, kw_only=True):
    """The one way out, for every request alike. Without `enabled` the rest means nothing."""

    enabled: bool = False
    host: str = ""
    port: int = 0
    protocol: ProxyProtocol = "http"
    username: str = ""
    password: Secret = Secret()


class Network(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How requests to Pixiv behave.

    Units: milliseconds. `request_pacing_ms` None: the built-in pace; 0: none, but what a 429 demands stays.
    """

    timeout_ms: int = 30_000
    retries: int = 3
    retry_delay_ms: int = msgspec.field(default=1_000, name="retryDelay")
    request_pacing_ms: int | None = None
    proxy: Proxy = Proxy()


def is_token(text: str) -> bool:
    """Whether `text` may be a refresh token rather than a placeholder."""
    return len(text.strip()) >= 10 and text.strip() != PLACEHOLDER
