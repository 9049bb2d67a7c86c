"""A secret stands in every place that may hold one, the others quote it back in every way: it turns up nowhere."""

import json
import subprocess
import sys
from pathlib import Path
from secrets import token_hex
from urllib.parse import quote

import pytest

from tests.crash.process import ROOT, Process
from tests.crash.waiting import until
from tests.promises import secrets
from tests.whole.client import call
from tests.whole.settings import write
from tests.whole.stage import Stage

ERRORS = """
SELECT last_error AS error FROM schedule_slot_items WHERE last_error IS NOT NULL UNION ALL
SELECT last_error FROM outbox WHERE last_error IS NOT NULL UNION ALL
SELECT detail FROM delivery_events WHERE detail LIKE '%error%'
"""
DEAD = "SELECT 1 FROM outbox WHERE status = 'dead'"
ENDED = "SELECT 1 FROM schedule_slots WHERE status NOT IN ('pending', 'running')"


def plant(stage: Stage, name: str) -> str:
    """A secret that nobody has seen before; the rest of its letters are such as addresses and JSON spell anew."""
    stage.planted.append(f"pl/{name}+{token_hex(8)}")
    return stage.planted[-1]


def bare(words: list[str]) -> str:
    """Each of them alone, as only who knows it can find it, and as an address and a form spell it."""
    return " and ".join(f"{word} {quote(word, safe='')}" for word in words)


def dressed(word: str) -> str:
    """The secret as it looks in a request that is quoted, so that nobody has to know it."""
    spelt = quote(word, safe="")
    return (
        f"https://me:{spelt}@host.test/x?token={spelt}#{spelt} Bearer {word} token={word} api_key: {word} "
        f"{{'x-api-key': '{word}'}} \r\nCookie: sid={word}; more={word}\r\n"
    )


def command(stage: Stage, *arguments: str) -> None:
    """Run a command on the settings as they are now; what it says is evidence."""
    ended = subprocess.run(
        [sys.executable, "-m", "pixivflow", *arguments, "--config", f"{write(stage.config, stage.settings)}"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    stage.hear(" ".join(arguments), ended.stdout)
    stage.hear(" ".join(arguments), ended.stderr)


def answered(stage: Stage, match: dict[str, str], code: int, body: object) -> None:
    """Whoever asks for this gets that answer."""
    args = {"code": code, "body": json.dumps(body)}
    stage.pixiv.tell("faults", {"fault": "status", "match": match, "args": args})


def strayed(stage: Stage, daemon: Process) -> None:
    """Send the token of the door wherever it does not belong."""
    assert daemon.port is not None
    stage.trigger(daemon, f"x-{stage.token}")
    heads = {"Authorization": f"Bearer {stage.token}", "X-Attempt-Id": stage.token, "X-Schedule-Provider": stage.token}
    for path in (f"/internal/schedules/p0/run?token={stage.token}", f"/nowhere/{stage.token}", f"/{stage.token}"):
        stage.hear(path[:10], json.dumps(call(daemon.port, "POST", path, {"label": f"by {stage.token}"}, heads).body))


def judged(stage: Stage, *quoted: str) -> None:
    """Nothing of it all is to be seen, although it was quoted: the errors hold what stood around it."""
    told = " ".join(row["error"] for row in stage.rows(ERRORS))
    assert [words for words in quoted if words not in told] == []
    assert secrets.judge(stage.evidence()) == []


def test_a_login_that_is_refused_in_our_own_words_shows_none_of_them(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        refresh, client, word = plant(stage, "refresh"), plant(stage, "client"), plant(stage, "proxy")
        stage.settings["pixiv"] |= {"refreshToken": refresh, "clientSecret": client}
        stage.settings["network"] |= {
            "retries": 1,
            "retryDelay": 1,
            "proxy": {"enabled": False, "host": "h", "port": 9, "username": "me", "password": word},
        }
        answered(stage, {"kind": "oauth"}, 400, {"error": f"invalid_grant {bare(stage.planted)} {dressed(refresh)}"})
        daemon = stage.daemon()
        stage.trigger(daemon)
        stage.until_rows("the end of the slot", ENDED)
        stage.trigger(daemon)
        assert daemon.stop() == 0
        command(stage, "status", "--json")
        command(stage, "download", "--url", "100001", "--json")
        judged(stage, "login service")


def test_receivers_and_works_that_quote_our_requests_put_no_secret_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Stage(tmp_path) as stage:
        names = ("token", "header", "key", "variable", "user", "query")
        token, header, key, variable, user, query = (plant(stage, name) for name in names)
        monkeypatch.setenv("X_OF_TEST", variable)
        routes = stage.settings["delivery"]["targets"]
        there = f"http://me:{quote(user, safe='')}@127.0.0.1:{stage.pixiv.port}/sink"
        routes["channel"] |= {
            "url": f"{there}/webhook?key={quote(query, safe='')}",
            "token": token,
            "headers": {"X-Api-Key": key, "X-Auth": "${X_OF_TEST}"},
        }
        routes["archive"] |= {"url": f"{there}/submissions", "headers": {"Authorization": f"Bearer {header}"}}
        other = plant(stage, "other")
        echo = f"no such work for {dressed(other)} {bare([stage.signing, token, key, variable, user, query])}"
        answered(stage, {"route": "*/webhook"}, 422, {"status": "odd", "reason": echo})
        answered(stage, {"route": "*/submissions"}, 422, f"no such file for {bare([header, user])} {dressed(header)}")
        answered(stage, {"route": "*/search/*"}, 400, {"error": {"message": f"not found: {dressed(other)}"}})
        daemon = stage.daemon()
        stage.trigger(daemon)
        until("both receivers to have said no", lambda: len(stage.rows(DEAD)) == len(routes))
        stage.until_rows("the end of the slot", ENDED)
        stage.trigger(daemon)
        strayed(stage, daemon)
        assert daemon.stop() == 0
        command(stage, "status")
        command(stage, "status", "--json")
        judged(stage, "no such work for", "no such file for", "not found: https://redacted@host.test/x?…")
