"""Calls of `pixivflow`, and the configurations that they are given."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a-token-of-these-tests"
PATIENCE_S = 120


def pixivflow(
    *arguments: object, cwd: Path, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, in `cwd`, where no configuration of anybody else's is found."""
    return subprocess.run(
        [sys.executable, "-m", "pixivflow", *(f"{each}" for each in arguments)],
        cwd=cwd,
        env=clean(cwd, environ),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


@contextmanager
def called(*arguments: object, cwd: Path) -> Iterator["subprocess.Popen[str]"]:
    """The command while it runs."""
    with subprocess.Popen(
        [sys.executable, "-m", "pixivflow", *(f"{each}" for each in arguments)],
        cwd=cwd,
        env=clean(cwd),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def clean(home: Path, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment that sets nothing of pixivflow's but `environ`."""
    path = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": f"{ROOT}", "HOME": f"{home}", "PYTHONUTF8": "1"}
    return {**path, **(environ or {})}


def written(folder: Path, port: int = 9, **parts: Any) -> Path:
    """A valid configuration against a Pixiv on the loopback `port`, each of `parts` in its part's place."""
    base = f"http://127.0.0.1:{port}"
    whole = {
        "pixiv": {
            "refreshToken": "rt-rotating",
            "endpoints": {"api": f"{base}/app", "oauth": f"{base}/oauth", "web": f"{base}/web", "image": f"{base}/img"},
        },
        "network": {"requestPacingMs": 0, "retries": 1, "retryDelay": 1},
        "storage": {"databasePath": f"{folder / 'ledger.db'}", "downloadDirectory": f"{folder / 'files'}"},
        "download": {"requestDelay": 0, "maxRetries": 1, "retryDelay": 1},
        "targets": [{"id": "kept", "type": "illustration", "tag": "風景", "limit": 1}],
        "schedules": [{"id": "nightly", "cron": "0 3 * * *", "timezone": "UTC", "enabled": True}],
        "schedulerRuntime": {"mode": "external", "trigger": {"token": TOKEN}},
        **parts,
    }
    path = folder / "config.json"
    path.write_text(json.dumps(whole))
    path.chmod(0o600)
    return path
