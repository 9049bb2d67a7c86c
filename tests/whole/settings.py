"""What the daemon is configured with: plans that each keep works of a tag and deliver the top of a ranking twice."""

import json
from pathlib import Path
from typing import Any, Final

ROUTES: Final = {"channel": "webhook", "archive": "submissions"}
"""Each route, and what the sandbox's receiver calls it."""
KEPT: Final = "kept"
TOP: Final = "top"


def settings(folder: Path, port: int, token: str, signing: str, plans: int = 1) -> dict[str, Any]:
    """A whole configuration against the sandbox on `port`. Plans are named `p0`, `p1`…; each is due every minute."""
    base = f"http://127.0.0.1:{port}"
    return {
        "pixiv": {
            "refreshToken": "rt-rotating",
            "endpoints": {part: f"{base}/{there}" for part, there in ENDPOINTS.items()},
        },
        "network": {"requestPacingMs": 0},
        "storage": {"databasePath": f"{folder / 'ledger.db'}", "downloadDirectory": f"{folder / 'files'}"},
        "download": {"requestDelay": 0},
        "targets": [
            {"id": KEPT, "type": "illustration", "tag": "風景", "limit": 2},
            {
                "id": TOP,
                "type": "illustration",
                "mode": "ranking",
                "limit": 1,
                "storageMode": "cache",
                "delivery": {"targets": list(ROUTES)},
            },
        ],
        "delivery": {
            "deleteAfterDelivery": False,
            "targets": {
                "channel": {"type": "webhook", "url": f"{base}/sink/webhook", "signingSecret": signing},
                "archive": {"type": "httpMultipart", "url": f"{base}/sink/submissions"},
            },
        },
        "schedules": [{"id": f"p{n}", "cron": "* * * * *", "timezone": "UTC", "enabled": True} for n in range(plans)],
        "schedulerRuntime": {"mode": "external", "exitWhenIdle": False, "trigger": {"token": token}},
    }


ENDPOINTS: Final = {"api": "app", "oauth": "oauth", "web": "web", "image": "img"}


def write(path: Path, content: object) -> Path:
    """Put it where a daemon reads it; text as it stands."""
    path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2))
    path.chmod(0o600)
    return path
