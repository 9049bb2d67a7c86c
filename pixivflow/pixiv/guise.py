"""How the app introduces itself: headers that agree with each other.

Source: the headers of the mobile application as open clients have written them down.
"""

import hashlib
import re
from typing import Final

from pixivflow.times import iso

REFERER: Final = "https://app-api.pixiv.net/"
HASH_SECRET: Final = "28c1fdd170a5204386cb1313c7077b34f83e4aaf4aa829ce78c231e05b0bae2c"  # noqa: S105 - published
AGENT: Final = re.compile(r"Pixiv(Android|IOS)App/([0-9.]+) \((?:Android|iOS) ([0-9.]+)")


def app_headers(user_agent: str) -> dict[str, str]:
    """Who asks, on which platform: the one that the agent names, or else an iOS that open clients name."""
    match = AGENT.match(user_agent)
    system, app, version = (match[1].lower(), match[2], match[3]) if match else ("ios", "7.13.3", "14.6")
    return {
        "User-Agent": user_agent,
        "App-OS": system,
        "App-OS-Version": version,
        "App-Version": app,
        "Accept-Encoding": "identity",
    }


def time_headers(now: int) -> dict[str, str]:
    """When we ask, and the proof that the app does."""
    told = iso(now)[:19] + "+00:00"
    digest = hashlib.md5((told + HASH_SECRET).encode(), usedforsecurity=False).hexdigest()
    return {"X-Client-Time": told, "X-Client-Hash": digest}
