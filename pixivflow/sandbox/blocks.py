"""The generated world: named blocks of ids, each with a property that a client has to cope with.

All of it comes from the seed and the day on which the sandbox was started; works are as old as yesterday at least.
Within a block a higher id is a newer work, as it is in the service: clients rely on it.
"""

from collections.abc import Iterator
from datetime import date
from itertools import accumulate, chain
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from pixivflow.sandbox.clock import DAY_MS, day_start_ms
from pixivflow.sandbox.model import VIEWER, Bookmark, Frame, Series, Tag, User, Visibility, Work, World, plain_user
from pixivflow.sandbox.words import AI_TAG, NAMES, R18_TAG, TAGS, TITLES

PLAIN: Final = 800
"""The plain works that are always there, from 100001 on; more of them begin at 110001."""
DAYS: Final = 30
PAGES: Final = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200)
FORMS: Final = ((1_200, 1_600), (1_600, 1_200), (1_000, 1_000), (1_920, 1_080), (900, 2_000))
BUSY, IDLE, MANGAKA = 5_050, 5_051, 5_052  # 95 works, none, manga alone
SERIALIST: Final = 5_010
SERIALS: Final = range(400, 490)
"""Which of the plain works are by the author of the series."""
AUTHORS: Final = tuple(user for user in range(5_001, 5_061) if user not in (BUSY, IDLE, MANGAKA))
ODD_AUTHORS: Final = tuple(range(5_901, 5_911))
WEIGHTS: Final = tuple(accumulate(1 / place for place in range(1, len(TAGS) + 1)))


def generate(seed: int, day: date, works: int, page_size: int) -> World:
    """The world of that seed, started on that Japanese day.

    `works`: how many illustrations there are; the blocks are there also when fewer are asked for.
    """
    rng = Random(f"works/{seed}")  # noqa: S311 -- to be repeated, not to be secret
    midnight = day_start_ms(day)
    world = World(seed, day, page_size)
    special = list(_special(rng, midnight))
    plain = _plain(rng, midnight, max(PLAIN, works - len(special)))
    named = [User(id=user, name=name, account=f"odd{user}") for user, name in zip(ODD_AUTHORS, NAMES, strict=True)]
    usual = [plain_user(user) for user in (*AUTHORS, BUSY, IDLE, MANGAKA)]
    world.add(chain(plain, special), [*usual, *named, User(id=VIEWER, name="tester", account="tester")])
    _series(world)
    _bookmarks(world)
    world.follows = {"public": frozenset({5_001, 5_002, 5_003}), "private": frozenset({5_004})}
    return world


def _plain(rng: Random, midnight: int, count: int) -> Iterator[Work]:
    for at, born in enumerate(_dates(rng, midnight, count)):
        work_id = 100_001 + at if at < PLAIN else 110_001 + at - PLAIN
        author = SERIALIST if at in SERIALS else BUSY if at % 7 == 0 and at < 749 else rng.choice(AUTHORS)
        extra = [Tag("dup")] if 300 <= at < 350 else []
        yield _work(rng, work_id, author, born, extra, rating=rng.random(), maker=rng.random())


def _dates(rng: Random, midnight: int, count: int) -> list[int]:
    """So many instants of the thirty days, to the second, the oldest first."""
    return [midnight - ago * 1_000 for ago in sorted(rng.choices(range(1, DAYS * 86_400), k=count), reverse=True)]


def _work(
    rng: Random,
    work_id: int,
    author: int,
    born: int,
    extra: list[Tag] | None = None,
    *,
    rating: float = 1.0,
    maker: float = 1.0,
    **fixed: Any,
) -> Work:
    """One work with random tags, counters and form. `rating`, `maker`: the dice for R-18 and for who drew it."""
    tags = dict.fromkeys(rng.choices(TAGS, cum_weights=WEIGHTS, k=rng.randint(1, 5)))
    marked = [R18_TAG] * (rating < 0.1) + [AI_TAG] * (0.1 <= maker < 0.15)
    bookmarks = int(rng.lognormvariate(5, 1.3))
    width, height = rng.choice(FORMS)
    facts: dict[str, Any] = {
        "id": work_id,
        "user_id": author,
        "created_at": born,
        "title": f"work {work_id}",
        "tags": (*marked, *(extra or ()), *tags),
        "x_restrict": int(rating < 0.1),
        "sanity_level": 6 if rating < 0.1 else 2,
        "illust_ai_type": 2 if maker < 0.1 else int(maker >= 0.15),
        "total_bookmarks": bookmarks,
        "total_view": bookmarks * rng.randint(8, 30) + rng.randrange(500),
        "width": width,
        "height": height,
        "ext": rng.choices(("jpg", "png", "gif"), (75, 23, 2))[0],
    }
    return Work(**{**facts, **fixed})


def _special(rng: Random, midnight: int) -> Iterator[Work]:
    def block(first: int, count: int, **fixed: Any) -> Iterator[Work]:
        for work_id, born in enumerate(_dates(rng, midnight, count), start=first):
            yield _work(rng, work_id, rng.choice(AUTHORS), born, **fixed)

    for work, pages in zip(block(101_001, len(PAGES)), PAGES, strict=True):
        yield replace(work, page_count=pages)
    yield from block(101_101, 10, type="manga", page_count=4, user_id=MANGAKA)
    for at, work in enumerate(block(101_201, 20, type="ugoira", ext="jpg", width=600, height=400)):
        yield replace(work, frames=_frames(rng, 3 + 3 * at))
    yield from block(101_301, 10, visibility=Visibility.DELETED)
    yield from block(101_311, 5, visibility=Visibility.RESTRICTED)
    for work, state in zip(block(101_321, 3), list(Visibility)[-3:], strict=True):
        yield replace(work, visibility=state)
    yield from block(101_331, 1, visibility=Visibility.HIDDEN)
    for at, (work, title) in enumerate(zip(block(101_401, len(TITLES)), TITLES, strict=True)):
        yield replace(work, title=title, user_id=ODD_AUTHORS[at % len(ODD_AUTHORS)])
    edge = midnight - DAY_MS
    for work, born in zip(block(101_601, 4), (edge - 1_000, edge - 1_000, edge, edge), strict=True):
        yield replace(work, created_at=born)


def _frames(rng: Random, count: int) -> tuple[Frame, ...]:
    return tuple(Frame(f"{at:06}.jpg", rng.randint(1, 50) * 10) for at in range(count))


def _series(world: World) -> None:
    members = {
        310_001: tuple(range(100_401, 100_404)),
        310_002: tuple(range(100_411, 100_476)),
        310_003: (100_481, 101_301, 100_482),
    }
    for series_id, works in members.items():
        world.series[series_id] = Series(id=series_id, title=f"series {series_id}", user_id=SERIALIST, works=works)
        world.add(replace(world.works[work], series_id=series_id, user_id=SERIALIST) for work in works)


def _bookmarks(world: World) -> None:
    """Newest first. Among the public ones of the account are a deleted work and a placeholder."""
    shown = [*range(100_101, 100_147), 101_302, *range(100_147, 100_194), 101_321]
    for owner, restrict, works, first in (
        (VIEWER, "public", shown, 9_001),
        (VIEWER, "private", list(range(100_201, 100_213)), 9_501),
        (5_001, "public", list(range(100_221, 100_261)), 9_701),
    ):
        kept = (Bookmark(first + at, work, (None, "好き", "参考")[at % 3]) for at, work in enumerate(works))
        world.bookmarks[owner, restrict] = tuple(kept)[::-1]
