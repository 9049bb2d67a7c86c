"""Which requests a rule takes, and how often."""

from typing import Any

import msgspec
import pytest

from pixivflow.sandbox.rules import PRESETS
from tests.fixtures.sandboxes import MANUAL, PIXIV, Asker

DETAIL = "/v1/illust/detail"
GONE = {"fault": "status", "args": {"code": 503}}


def statuses(ask: Asker, count: int, path: str = DETAIL, **params: object) -> list[int]:
    return [ask.call(path, **(params or {"illust_id": 100_001})).status for _ in range(count)]


@pytest.mark.parametrize(
    ("skip", "count", "expected"),
    [
        (0, 0, [503, 503, 503, 503]),
        (0, 2, [503, 503, 200, 200]),
        (1, 2, [200, 503, 503, 200]),
        (3, 0, [200, 200, 200, 503]),
    ],
)
def test_a_rule_ignores_the_first_and_then_takes_so_many(
    ask: Asker, skip: int, count: int, expected: list[int]
) -> None:
    assert ask.bearer
    ask.tell("/faults", [{**GONE, "skip": skip, "count": count}])
    assert statuses(ask, 4) == expected


def test_the_first_rule_that_takes_a_request_is_the_only_one(ask: Asker) -> None:
    assert ask.bearer
    rules = [{**GONE, "id": "one", "count": 1}, {"fault": "status", "args": {"code": 500}, "id": "two", "count": 1}]
    ask.tell("/faults", rules)
    assert statuses(ask, 3) == [503, 500, 200]
    views = ask.tell("/faults", method="GET")["rules"]
    assert [(view["id"], view["hits"]) for view in views] == [("one", 1), ("two", 1)]


@pytest.mark.parametrize(
    ("match", "taken"),
    [
        ({"route": DETAIL}, True),
        ({"route": f"/app{DETAIL}"}, True),
        ({"route": "/v1/*/detail"}, True),
        ({"route": "/v1/illust/ranking"}, False),
        ({"route": "/illust/*"}, False),
        ({"kind": "api"}, True),
        ({"kind": "img"}, False),
        ({"work": 100_001}, True),
        ({"work": 100_002}, False),
        ({"query": {"illust_id": "100001"}}, True),
        ({"query": {"illust_id": 100_001}}, True),
        ({"query": {"illust_id": "100001", "filter": "for_ios"}}, False),
        ({"page": 0}, False),
        ({"key": "k"}, False),
        ({"route": DETAIL, "work": 100_001, "kind": "api"}, True),
        ({"route": DETAIL, "work": 100_001, "kind": "web"}, False),
    ],
)
def test_all_conditions_of_a_rule_must_hold(ask: Asker, match: dict[str, Any], taken: bool) -> None:
    assert ask.bearer
    ask.tell("/faults", [{**GONE, "match": match}])
    assert statuses(ask, 1) == [503 if taken else 200]


def test_a_page_of_a_work_can_be_named(ask: Asker) -> None:
    pages = ask.data(DETAIL, illust_id=101_001)["illust"]["meta_pages"]
    ask.tell("/faults", [{**GONE, "match": {"work": 101_001, "page": 1}}])
    assert [ask.image(page["image_urls"]["original"]).status for page in pages] == [200, 503]
    assert ask.image(pages[1]["image_urls"]["large"]).status == 503


def test_a_work_is_known_by_its_archive_and_by_its_page_on_the_web_too(ask: Asker) -> None:
    archive = ask.data("/v1/ugoira/metadata", illust_id=101_201)["ugoira_metadata"]["zip_urls"]["medium"]
    ask.tell("/faults", [{**GONE, "match": {"work": 101_201}}])
    assert ask.image(archive).status == 503
    assert ask("GET", "/web/ajax/illust/101201").status == 503
    assert ask("GET", "/web/ajax/illust/101202").status == 200


def test_a_rule_with_odds_takes_about_that_part_and_the_same_with_the_same_seed() -> None:
    runs = []
    for seed in (1, 1, 2):
        ask = Asker(msgspec.structs.replace(MANUAL, seed=seed))
        assert ask.bearer
        ask.tell("/faults", [{**GONE, "p": 0.3, "id": "dice"}])
        runs.append(statuses(ask, 200))
    assert runs[0] == runs[1] != runs[2]
    assert 35 < runs[0].count(503) < 85


def test_what_the_odds_let_pass_is_not_counted(ask: Asker) -> None:
    assert ask.bearer
    ask.tell("/faults", [{**GONE, "p": 0.3, "count": 3}])
    assert statuses(ask, 100).count(503) == 3


def test_a_rule_can_end_after_a_time(ask: Asker) -> None:
    assert ask.bearer
    ask.tell("/faults", [{**GONE, "lasts_ms": 3}])
    assert statuses(ask, 4) == [503, 503, 200, 200]


def test_rules_are_removed_by_id_or_all_at_once(ask: Asker) -> None:
    assert ask.bearer
    ids = ask.tell("/faults", [GONE, GONE, GONE])["ids"]
    assert len(set(ids)) == 3
    ask.tell(f"/faults/{ids[0]}", method="DELETE")
    assert len(ask.tell("/faults", method="GET")["rules"]) == 2
    assert ask("DELETE", f"/_ctl/faults/{ids[0]}").status == 404
    ask.tell("/faults", method="DELETE")
    assert statuses(ask, 1) == [200]


def test_a_rule_posted_again_begins_again(ask: Asker) -> None:
    assert ask.bearer
    for _ in range(2):
        ask.tell("/faults", [{**GONE, "id": "again", "count": 1}])
        assert statuses(ask, 2) == [503, 200]
    assert len(ask.tell("/faults", method="GET")["rules"]) == 1


@pytest.mark.parametrize(
    ("rule", "named"),
    [
        ({"fault": "explode"}, "explode"),
        ({"fault": "status"}, "code"),
        ({"fault": "status", "args": {"code": "x"}}, "code"),
        ({"fault": "status", "args": {"code": 99}}, "code"),
        ({"fault": "status", "args": {"code": 200, "headers": {"a": "b\r\nc: d"}}}, "headers"),
        ({"fault": "status", "args": {"code": 200, "headers": {"Content-Length": "1"}}}, "content-length"),
        ({"fault": "latency", "args": {"ms": -1}}, "ms"),
        ({"fault": "latency", "args": {"ms": 1, "s": 1}}, "s"),
        ({"fault": "stall", "count": -1}, "count"),
        ({"fault": "stall", "p": 2}, "p"),
        ({"fault": "stall", "match": {"path": "/"}}, "path"),
        ({"fault": "stall", "when": "later"}, "when"),
        ({"args": {}}, "fault"),
    ],
)
def test_a_rule_that_says_something_odd_is_refused_by_name_and_none_is_added(
    ask: Asker, rule: dict[str, Any], named: str
) -> None:
    reply = ask("POST", "/_ctl/faults", msgspec.json.encode([GONE, rule]))
    assert reply.status == 400
    assert named in msgspec.json.decode(reply.body)["error"]
    assert ask.tell("/faults", method="GET")["rules"] == []


# --- faults that change the service ---


def test_all_tokens_can_be_ended_at_once(ask: Asker) -> None:
    assert statuses(ask, 1) == [200]
    ask.tell("/faults", [{"fault": "expire_tokens"}])
    assert statuses(ask, 1) == [400]
    ask._bearer = {}
    assert statuses(ask, 2) == [200, 200]


def test_tokens_can_be_ended_in_the_middle_of_something(ask: Asker) -> None:
    assert ask.bearer
    ask.tell("/faults", [{"fault": "expire_tokens", "match": {"route": DETAIL}, "skip": 3}])
    assert statuses(ask, 4) == [200, 200, 200, 400]
    ask._bearer = {}
    assert statuses(ask, 3) == [200, 200, 200]


def test_a_refresh_token_can_be_revoked(ask: Asker) -> None:
    ask.tell("/faults", [{"fault": "revoke_refresh", "args": {"token": "rt-valid"}}])
    reply = ask.refresh()
    assert msgspec.json.decode(reply.body)["errors"]["system"]["code"] == 1508
    assert ask.refresh("rt-rotating").status == 200


def test_a_burst_of_calls_of_one_token_is_cut_and_the_bucket_fills_up_again(ask: Asker) -> None:
    assert ask.bearer
    ask.tell("/faults", [{"fault": "burst", "args": {"limit": 3, "window_ms": 30, "retry_after": 7}}])
    assert statuses(ask, 5) == [200, 200, 200, 429, 429]
    assert ask.call(DETAIL, illust_id=100_001).header("Retry-After") == "7"
    assert ask("GET", "/img/user-profile/5001_170.jpg", headers=PIXIV).status == 200
    ask.t_ms += 30
    assert statuses(ask, 2) == [200, 200]


def test_bursts_of_two_tokens_do_not_add_up(ask: Asker) -> None:
    ask.tell("/faults", [{"fault": "burst", "args": {"limit": 2, "window_ms": 100_000, "status": 403}}])
    assert statuses(ask, 3) == [200, 200, 403]
    ask._bearer = {}
    assert statuses(ask, 1) == [200]


def test_a_work_can_vanish_after_it_was_seen(ask: Asker) -> None:
    assert ask.bearer
    ask.tell("/faults", [{"fault": "vanish", "args": {"work": 100_001}, "skip": 2}])
    assert statuses(ask, 4) == [200, 200, 404, 404]
    assert statuses(ask, 1, illust_id=100_002) == [200]


# --- moods ---


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_mood_can_be_set_twice_and_calm_ends_it(ask: Asker, name: str) -> None:
    assert ask.bearer
    once = ask.tell("/preset", {"name": name})["ids"]
    assert ask.tell("/preset", {"name": name})["ids"] == once
    assert len(ask.tell("/faults", method="GET")["rules"]) == len(once)
    ask.tell("/preset", {"name": "calm"})
    assert ask.tell("/faults", method="GET")["rules"] == []
    assert set(statuses(ask, 30)) == {200}


def test_two_moods_add_up(ask: Asker) -> None:
    ask.tell("/preset", {"name": "flaky"})
    ask.tell("/preset", {"name": "limited"})
    assert len(ask.tell("/faults", method="GET")["rules"]) == 4


def test_a_storm_passes(ask: Asker) -> None:
    assert ask.bearer
    ask.tell("/preset", {"name": "storm"})
    assert statuses(ask, 22) == [429] * 20 + [200] * 2


def test_a_brownout_ends_by_itself(ask: Asker) -> None:
    assert ask.bearer
    ask.tell("/preset", {"name": "brownout"})
    assert statuses(ask, 2) == [503, 503]
    ask.t_ms += 15_000
    assert statuses(ask, 1) == [200]


def test_tokens_can_be_given_for_seconds_only(ask: Asker) -> None:
    ask.tell("/preset", {"name": "expiry"})
    assert msgspec.json.decode(ask.refresh().body)["expires_in"] == 5
    assert statuses(ask, 1) == [200]
    ask.tell("/clock", {"advance_ms": 5_000})
    assert statuses(ask, 1) == [400]
    ask.tell("/preset", {"name": "calm"})
    assert msgspec.json.decode(ask.refresh().body)["expires_in"] == 3_600


def test_a_mood_that_nobody_knows_is_refused(ask: Asker) -> None:
    assert ask("POST", "/_ctl/preset", b'{"name":"grumpy"}').status == 400
