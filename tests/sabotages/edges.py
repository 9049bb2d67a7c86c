"""The edges of Pixiv and of files: login, pace, lists, and what gets a name on the disk."""

from tests.sabotages import Sabotage

AUTH = "pixivflow/pixiv/auth.py"
LOGIN = "pixivflow/pixiv/login.py"
CREDENTIALS = "pixivflow/pixiv/credentials.py"
GATE = "pixivflow/pixiv/gate.py"
PACE = "pixivflow/pixiv/pace.py"
ANSWERS = "pixivflow/pixiv/answers.py"
SOURCE = "pixivflow/pixiv/source.py"
URLS = "pixivflow/pixiv/urls.py"
CLIENT = "pixivflow/pixiv/client.py"
TRANSLATE = "pixivflow/pixiv/translate.py"
STORE = "pixivflow/download/store.py"
PART = "pixivflow/download/part.py"
TRANSFER = "pixivflow/download/transfer.py"
VERIFY = "pixivflow/download/verify.py"
PRESENT = "pixivflow/download/present.py"
NAMING = "pixivflow/download/naming.py"
PAGE = "pixivflow/download/page.py"
FETCH = "pixivflow/download/fetch.py"
RECONCILE = "pixivflow/download/reconcile.py"

LOGIN_TESTS = ("tests/edges/pixiv/test_login.py",)
GATE_TESTS = ("tests/edges/pixiv/test_gate.py",)
SOURCE_TESTS = ("tests/edges/pixiv/test_source.py",)
FETCH_TESTS = ("tests/edges/download/test_fetch.py",)
PRESENT_TESTS = ("tests/edges/download/test_present.py",)
NAMING_TESTS = ("tests/edges/download/test_naming.py",)
VERIFY_TESTS = ("tests/edges/download/test_verify.py",)


def broken(name: str, file: str, find: str, replace: str, tests: tuple[str, ...]) -> Sabotage:
    return Sabotage(name=name, file=file, find=find, replace=replace, tests=tests)


PIXIV = (
    broken(
        "a refresh is cut by a cancellation",
        AUTH,
        "return await unhurried(self._exchanged, PATIENCE_MS)",
        "return await self._exchanged()",
        LOGIN_TESTS,
    ),
    broken(
        "a token that found no room is not written later",
        AUTH,
        "            await self._keep_at_last()\n",
        "",
        LOGIN_TESTS,
    ),
    broken("a refresh is waited for whatever happens", AUTH, "_MS: Final = 1_500", "_MS: Final = 29_000", LOGIN_TESTS),
    broken("a dead credential is shown again", AUTH, "                self._refused.add(used)\n", "", (*LOGIN_TESTS,)),
    broken(
        "a refused grant is tried again",
        LOGIN,
        "reply.status == 400 and _is_invalid(reply.body)",
        "reply.status == 402 and _is_invalid(reply.body)",
        LOGIN_TESTS,
    ),
    broken(
        "a reader asks for tokens",
        AUTH,
        "        return [] if self._readonly else [",
        "        return [",
        LOGIN_TESTS,
    ),
    broken(
        "the settings' token always wins",
        CREDENTIALS,
        "fingerprint(configured) != seen\n    tries",
        "bool(seen or configured)\n    tries",
        LOGIN_TESTS,
    ),
    broken("a dying token is used", AUTH, " + self._margin_ms", "", LOGIN_TESTS),
    broken(
        "a refused token is used again",
        CLIENT,
        "                    stale = token\n",
        '                    stale = ""\n',
        LOGIN_TESTS,
    ),
    broken(
        "a limit is forgotten by the next process",
        GATE,
        "            await self._rows.save(",
        "            await self._rows.load(self._scope) and self._rows.save(",
        GATE_TESTS,
    ),
    broken(
        "who waited fires through a new cool-down",
        GATE,
        "            if self._known_at(now).cooldown_until <= now:\n                return False",
        "            return False",
        GATE_TESTS,
    ),
    broken(
        "a clock that is set back parks a living account",
        PACE,
        "by = max(0, state.updated_at - now)",
        "by = 0",
        GATE_TESTS,
    ),
    broken(
        "a probe that went away leaves the circuit half open",
        GATE,
        "if turn.is_probe and not turn.is_told:",
        "if False:",
        GATE_TESTS,
    ),
    broken(
        "everybody probes",
        PACE,
        "        case Circuit.HALF_OPEN:\n            return Shut(PROBE_MS)\n",
        "",
        GATE_TESTS,
    ),
    broken(
        "the longest wish parks the account for days",
        PACE,
        "min(asked_ms or 0, pace.max_wish_ms)",
        "asked_ms or 0",
        GATE_TESTS,
    ),
    broken(
        "the pace of an account ignores the durations in force",
        PACE,
        "first_cooldown_ms=timings.gate_cooldown_ms,",
        "first_cooldown_ms=60_000,",
        GATE_TESTS,
    ),
    broken("places are not reserved", PACE, "next_allowed_at=after, circuit", "circuit", GATE_TESTS),
    broken(
        "a rate limit in other words closes a work",
        ANSWERS,
        ' or "rate limit" in words.lower()',
        "",
        GATE_TESTS,
    ),
    broken(
        "an error under 200 is an empty list",
        ANSWERS,
        "    if status >= 500 or error is not None:",
        "    if status >= 500:",
        SOURCE_TESTS,
    ),
    broken(
        "what is no JSON is served",
        ANSWERS,
        "    if not is_json:\n        return Broken(f",
        "    if not is_json:\n        return Served(b'{}')\n        return Broken(f",
        SOURCE_TESTS,
    ),
    broken("an outage is one request's", ANSWERS, "    if status in DOWN:", "    if status in ():", SOURCE_TESTS),
    broken(
        "a foreign page is followed",
        URLS,
        "    if origin(next_url) != origin(base):",
        "    if not origin(next_url):",
        SOURCE_TESTS,
    ),
    broken("a list is read in circles", URLS, "    if next_url in walked:", "    if next_url in ():", SOURCE_TESTS),
    broken(
        "an empty page is no end",
        SOURCE,
        "            if not (works := self._works(reply, source, item)):\n                return\n",
        "            works = self._works(reply, source, item)\n",
        SOURCE_TESTS,
    ),
    broken("pages come in a burst", SOURCE, "            if page:\n", "            if page > 500:\n", SOURCE_TESTS),
    broken(
        "a placeholder is a work",
        TRANSLATE,
        "    is_visible = not is_placeholder(illust)",
        "    is_visible = True",
        SOURCE_TESTS,
    ),
)

FILES = (
    broken(
        "a name is taken from another file",
        STORE,
        "        os.link(part, path, follow_symlinks=False)",
        "        os.replace(part, path)",
        PRESENT_TESTS,
    ),
    broken(
        "a name comes before its bytes are on the disk",
        PART,
        "            seen = look(self.path)\n            os.fsync(self._opened.fileno())\n",
        "            seen = look(self.path)\n",
        FETCH_TESTS,
    ),
    broken(
        "a name is not durable",
        STORE,
        "        fsync_folder(folder)\n    except",
        "        pass\n    except",
        FETCH_TESTS,
    ),
    broken(
        "some pages keep their names when the disk is full",
        STORE,
        "        for path in made:\n            path.unlink(missing_ok=True)\n",
        "",
        FETCH_TESTS,
    ),
    broken("a full disk may pass like a lost line", STORE, "return StorageFull(", "return Unavailable(", FETCH_TESTS),
    broken(
        "a part is closed under the thread that writes it",
        PART,
        "        if self._is_ended and self._use.acquire(blocking=False):",
        "        if self._is_ended and (self._use.acquire(blocking=False) or self.path.unlink() is None):",
        FETCH_TESTS,
    ),
    broken(
        "a call that was left behind writes into the next attempt",
        PART,
        "pieces if attempt == self._attempt and not self._is_ended",
        "pieces if not self._is_ended",
        FETCH_TESTS,
    ),
    broken(
        "a folder may lead out of the base",
        STORE,
        "    if not folder.resolve().is_relative_to(base.resolve()):",
        "    if False:",
        PRESENT_TESTS,
    ),
    broken(
        "files come from anywhere",
        TRANSFER,
        "            if origin(url) not in self._wire.origins:",
        "            if origin(url) is None:",
        FETCH_TESTS,
    ),
    broken(
        "a picture is asked for from nowhere", TRANSFER, '"Referer": REFERER', '"Referer": "https://x/"', FETCH_TESTS
    ),
    broken(
        "a broken line begins afresh",
        TRANSFER,
        "        if not (self._part.size and self.version.validator):",
        "        if True:",
        FETCH_TESTS,
    ),
    broken(
        "another file is appended to the first",
        TRANSFER,
        "        if size:\n            await hop(self._threads, self._part.restart)\n",
        "",
        FETCH_TESTS,
    ),
    broken(
        "what is no picture is taken for one",
        PAGE,
        "return await hop(self._threads, self._part.finish, verify.picture)",
        'return await hop(self._threads, self._part.finish, lambda path: Picture(format="jpeg", size=40_000))',
        FETCH_TESTS,
    ),
    broken(
        "a spoiled picture is continued",
        PAGE,
        "            await hop(self._threads, self._part.restart)  # what looks whole and is not cannot be continued\n",
        "",
        FETCH_TESTS,
    ),
    broken("a part is left by a failure", PAGE, "    end = part.drop\n", "    end = part.leave\n", FETCH_TESTS),
    broken(
        "a smaller picture passes for the original",
        PAGE,
        "degraded=url != page.original_url",
        "degraded=False",
        FETCH_TESTS,
    ),
    broken(
        "the end of a picture does not matter",
        VERIFY,
        "        if not is_ended(",
        "        if not head or False and is_ended(",
        VERIFY_TESTS,
    ),
    broken("a header does not matter", VERIFY, "        _look(file, found)\n", "", VERIFY_TESTS),
    broken(
        "a recorded file is used whatever it holds",
        PRESENT,
        "path.stat().st_size == size and sha256_of(path) == sha256",
        "path.stat().st_size > 0",
        PRESENT_TESTS,
    ),
    broken(
        "what a died run named is fetched again",
        PRESENT,
        "            if file is not None:",
        "            if file is not None and page.index < 0:",
        PRESENT_TESTS,
    ),
    broken(
        "whole pages of a failed work are thrown away",
        FETCH,
        "            if may_pass(error):",
        "            if False:",
        FETCH_TESTS,
    ),
    broken(
        "a minute that is written counts as nothing written",
        FETCH,
        "PAGE_MS if download.timeout_ms is None else",
        "PAGE_MS if download.timeout_ms in (None, 60_000) else",
        FETCH_TESTS,
    ),
    broken(
        "all pages at once",
        FETCH,
        "max(1, self._download.concurrency)",
        "max(99, self._download.concurrency)",
        FETCH_TESTS,
    ),
    broken(
        "a name has no bound",
        NAMING,
        "    return text if len(text.encode()) <= room else",
        "    return text if room else",
        NAMING_TESTS,
    ),
    broken(
        "a name may be a path",
        NAMING,
        """re.compile(r'[/:*?"<>|\\\\]')""",
        """re.compile(r'[:*?"<>|\\\\]')""",
        NAMING_TESTS,
    ),
    broken(
        "folders of a day begin at midnight in Greenwich",
        NAMING,
        "timedelta(hours=9)",
        "timedelta(hours=0)",
        NAMING_TESTS,
    ),
    broken(
        "a start removes what it does not know",
        RECONCILE,
        "for name in names if PART.fullmatch(name))",
        'for name in names if name.startswith(".part-"))',
        ("tests/edges/download/test_reconcile.py",),
    ),
)

ROWS = (*PIXIV, *FILES)
