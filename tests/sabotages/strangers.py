"""What other services say and files become: taken at its word, and not."""

from tests.sabotages import Sabotage

BOUNDS_TESTS = ("tests/edges/pixiv/test_bounds.py",)


def broken(name: str, file: str, find: str, replace: str, tests: tuple[str, ...]) -> Sabotage:
    return Sabotage(name=name, file=file, find=find, replace=replace, tests=tests)


NUMBERS = (
    broken(
        "the pages that a work claims are counted up to",
        "pixivflow/download/fetch.py",
        "len(detail.pages) != detail.page_count or any(page.index != at for at, page in enumerate(detail.pages, 1))",
        "[page.index for page in detail.pages] != list(range(1, detail.page_count + 1))",
        ("tests/edges/download/test_fetch.py",),
    ),
    broken(
        "a work may claim any number of pages",
        "pixivflow/pixiv/source.py",
        "max(found.page_count, len(found.pages)) > PAGES_MOST",
        "False",
        BOUNDS_TESTS,
    ),
    broken(
        "a number of pages is kept as it came",
        "pixivflow/pixiv/bounds.py",
        "max(1, min(told or 1, PAGES_MOST + 1))",
        "max(1, told or 1)",
        BOUNDS_TESTS,
    ),
    broken(
        "a count is kept that no row can hold",
        "pixivflow/pixiv/bounds.py",
        "return max(0, min(next((each for each in told if each is not None), 0), COUNT_MOST))",
        "return next((each for each in told if each is not None), 0)",
        BOUNDS_TESTS,
    ),
    broken(
        "an id has any number of digits",
        "pixivflow/pixiv/bounds.py",
        "told.isdecimal() and len(told) <= ID_DIGITS else",
        "told.isdecimal() else",
        BOUNDS_TESTS,
    ),
    broken(
        "a list that begins past all numbers is a bug",
        "pixivflow/pixiv/bounds.py",
        "text.isdecimal() and len(text) <= ID_DIGITS else",
        "text.isdecimal() else",
        BOUNDS_TESTS,
    ),
    broken(
        "a limit parks an account for as long as it likes",
        "pixivflow/pixiv/answers.py",
        "return max(0, min(asked_ms, WISH_MOST_MS))",
        "return max(0, asked_ms)",
        BOUNDS_TESTS,
    ),
)

HEARING = "pixivflow/providers/hearing.py"
HEARING_TESTS = ("tests/edges/providers/test_hearing.py",)

WORDS = (
    broken(
        "a gateway whose JSON nobody can read has accepted",
        "pixivflow/providers/webhook_ack.py",
        "if said.is_unclear and",
        "if False and",
        HEARING_TESTS,
    ),
    broken(
        "a receiver whose JSON nobody can read has accepted",
        "pixivflow/providers/multipart_ack.py",
        "if said.is_unclear and",
        "if False and",
        HEARING_TESTS,
    ),
    broken(
        "half a surrogate is kept",
        HEARING,
        'quiet(_HALF.sub("\\ufffd", each))',
        "quiet(each)",
        HEARING_TESTS,
    ),
    broken(
        "a number that is none is kept as one",
        HEARING,
        ", parse_constant=lambda _: None)",
        ")",
        HEARING_TESTS,
    ),
    broken(
        "a number of five thousand digits makes an answer unreadable",
        HEARING,
        "int(digits) if len(digits) <= DIGITS else None",
        "int(digits)",
        HEARING_TESTS,
    ),
    broken(
        "how deep an answer may be is left to the interpreter",
        HEARING,
        "        if depth > DEPTH:\n",
        "        if depth > 10**9:\n",
        HEARING_TESTS,
    ),
    broken(
        "only what begins like JSON is taken for JSON",
        HEARING,
        "(is_json or text.lstrip()",
        "(text.lstrip()",
        HEARING_TESTS,
    ),
    broken(
        "an answer of which a part was read is judged by its status",
        HEARING,
        "is_unclear=is_json)",
        "is_unclear=False)",
        HEARING_TESTS,
    ),
    broken(
        "an answer that nobody could read counts as no answer of ours",
        HEARING,
        "answer_unknown=True",
        "answer_unknown=False",
        HEARING_TESTS,
    ),
)

REVEAL = "pixivflow/providers/reveal.py"
ECHO_TESTS = ("tests/edges/providers/test_echoes.py",)

ECHOES = (
    broken(
        "a credential in small letters is none",
        "pixivflow/config/texts.py",
        "MASK, text, flags=re.IGNORECASE)",
        "MASK, text)",
        ECHO_TESTS,
    ),
    broken(
        "an answer is read before it is masked",
        "pixivflow/providers/attempts.py",
        "parse(heard(outcome, reveal.masked))",
        "parse(heard(outcome))",
        ECHO_TESTS,
    ),
    broken(
        "the texts inside of an answer are not masked by themselves",
        HEARING,
        'quiet(_HALF.sub("\\ufffd", each))',
        '_HALF.sub("\\ufffd", each)',
        ECHO_TESTS,
    ),
    broken(
        "a login is hidden in plain alone",
        "pixivflow/config/mask.py",
        "    yield base64.b64encode(",
        "    str(",
        ECHO_TESTS,
    ),
    broken(
        "a login that was encoded by hand is kept decoded",
        REVEAL,
        "        self._hidden.update(_within_basic(whole))\n",
        "",
        ECHO_TESTS,
    ),
    broken(
        "our own key is masked where a secret stands in it",
        REVEAL,
        "        if text == self._spared:\n            return text\n",
        "",
        ECHO_TESTS,
    ),
)

SENT = "pixivflow/providers/files.py"
SENT_TESTS = ("tests/edges/providers/test_promised_files.py",)

FILES = (
    broken(
        "a promise forgets what its files hold",
        "pixivflow/delivery/payload.py",
        "checksums={each.path: each.checksum for each in files if each.checksum},",
        "",
        SENT_TESTS,
    ),
    broken(
        "a submission is begun with a file that has changed",
        SENT,
        "            await self.do(prove, path, checksums.get(path))\n",
        "            pass\n",
        SENT_TESTS,
    ),
    broken(
        "a gateway is told to read a file that has changed",
        "pixivflow/providers/webhook_document.py",
        "            files.prove(path, payload.checksums.get(path))\n",
        "            pass\n",
        SENT_TESTS,
    ),
    broken(
        "a file that has changed travels inside of a document",
        SENT,
        "if checksum is not None and hashlib.sha256(read)",
        "if False and hashlib.sha256(read)",
        SENT_TESTS,
    ),
    broken(
        "a file that changes while it is sent arrives whole",
        SENT,
        "self._passed.hexdigest() != self._checksum",
        "False",
        SENT_TESTS,
    ),
    broken("a link to a file is measured", SENT, "os.lstat(path)", "os.stat(path)", SENT_TESTS),
    broken("a link to a file is followed", SENT, " | os.O_NOFOLLOW)", ")", SENT_TESTS),
)

MASK = "pixivflow/config/mask.py"
MASK_TESTS = ("tests/unit/config/test_mask.py", "tests/unit/config/test_validate_document.py")

ADDRESSES = (
    broken(
        "a message repeats the query of an address",
        MASK,
        "    if isinstance(hidden, str) and isinstance(value, str) and _is_address(value, at):",
        "    if False and isinstance(hidden, str) and isinstance(value, str):",
        MASK_TESTS,
    ),
    broken(
        "a message repeats what stands where an address should",
        MASK,
        "_only_refers(value) else MASK)",
        "_only_refers(value) else value)",
        MASK_TESTS,
    ),
    broken(
        "a document is shown with the queries of its addresses",
        MASK,
        "_QUERIED.sub(_unless_reference, shown_user) if",
        "shown_user if",
        MASK_TESTS,
    ),
)

ROUTE_TESTS = ("tests/unit/config/test_validate_routes.py",)

HEADERS = (
    broken(
        "a header may be called anything until it is sent",
        "pixivflow/config/validate/shape.py",
        "        if (fault := node.name(name)) is not None:\n",
        "        if (fault := node.name(name)) is not None and False:\n",
        ROUTE_TESTS,
    ),
    broken(
        "a header may hold anything until it is sent",
        "pixivflow/config/validate/keys/fields.py",
        "judge(is_header_value,",
        "judge(lambda value: isinstance(value, str),",
        ROUTE_TESTS,
    ),
)

AUTH = "pixivflow/pixiv/auth.py"
LOGIN_TESTS = ("tests/edges/pixiv/test_login.py",)

LOGIN = (
    broken(
        "a login service that is down is asked for one work after the other",
        AUTH,
        "            self._spare()\n",
        "",
        LOGIN_TESTS,
    ),
    broken(
        "a login service that is down is a matter of one work",
        "pixivflow/pixiv/login.py",
        "raise Outage(str(error), cause=error.cause) from error",
        "raise error",
        LOGIN_TESTS,
    ),
    broken(
        "whatever the login service grants is kept",
        "pixivflow/pixiv/login.py",
        "if grant is None or not credentials.is_sound(grant):",
        "if grant is None:",
        LOGIN_TESTS,
    ),
    broken(
        "a login that nests too deeply is a bug",
        "pixivflow/pixiv/login.py",
        "(msgspec.MsgspecError, UnicodeDecodeError, RecursionError)",
        "(msgspec.MsgspecError, UnicodeDecodeError)",
        LOGIN_TESTS,
    ),
    broken(
        "a token may hold anything",
        "pixivflow/pixiv/credentials.py",
        """and all("!" <= sign <= "~" for sign in text)""",
        "",
        LOGIN_TESTS,
    ),
    broken(
        "a lifetime may be of any length",
        "pixivflow/pixiv/credentials.py",
        "0 < granted.expires_in <= LIFETIME_MOST_S",
        "True",
        LOGIN_TESTS,
    ),
    broken(
        "a login service is left alone for as long as a clock is behind",
        AUTH,
        "0 < left_ms <= self._cooldown_ms:",
        "0 < left_ms:",
        LOGIN_TESTS,
    ),
)

STORE = "pixivflow/download/store.py"
FETCH_TESTS = ("tests/edges/download/test_fetch.py",)

DISK = (
    broken(
        "a disk with a fault is one work's misfortune",
        STORE,
        " | errno.EIO | errno.EMFILE | errno.ENFILE:",
        ":",
        FETCH_TESTS,
    ),
    broken(
        "a base that is no folder is one work's misfortune",
        STORE,
        "        case _ if is_baseless:",
        "        case _ if False:",
        FETCH_TESTS,
    ),
    broken(
        "a folder of one work that is none stops all of them",
        STORE,
        "error.errno in NO_FOLDER and not base.is_dir()",
        "error.errno in NO_FOLDER",
        FETCH_TESTS,
    ),
)

SOURCE = "pixivflow/pixiv/source.py"
SOURCE_TESTS = ("tests/edges/pixiv/test_source.py",)

LISTS = (
    broken(
        "a list of which nothing can be read is empty",
        SOURCE,
        "        if dropped and not works:\n",
        "        if False:\n",
        SOURCE_TESTS,
    ),
    broken(
        "an answer without a list is an empty one",
        SOURCE,
        '            raise Outage(f"{source} {item}: Pixiv answered without a list", cause=Cause.UNREADABLE)\n',
        "            return ()\n",
        SOURCE_TESTS,
    ),
    broken(
        "half a surrogate in a title takes the whole list with it",
        "pixivflow/pixiv/answers.py",
        "mended(reply.body)",
        "reply.body",
        SOURCE_TESTS,
    ),
    broken(
        "what only looks like half a surrogate is mended",
        "pixivflow/pixiv/mended.py",
        "{2})|\\\\.",
        "{2})",
        SOURCE_TESTS,
    ),
)

PRIVATE_FILE = "pixivflow/ledger/private.py"
PRIVATE_TESTS = ("tests/ledger/test_private.py",)

PRIVATE = (
    broken(
        "a new ledger is as open as the umask lets it be",
        "pixivflow/ledger/opening.py",
        "        self.exposed = keep_private(self.path)\n",
        "",
        PRIVATE_TESTS,
    ),
    broken(
        "the umask takes a new ledger from its owner",
        PRIVATE_FILE,
        "            os.fchmod(handle, OWNER_ALONE)\n",
        "            pass\n",
        PRIVATE_TESTS,
    ),
    broken(
        "a ledger that others can read stays so",
        PRIVATE_FILE,
        "        if mode & OTHERS:\n",
        "        if False:\n",
        PRIVATE_TESTS,
    ),
    broken(
        "the copies of a ledger stay as they are",
        PRIVATE_FILE,
        "each.name.startswith(begins)]",
        "False]",
        PRIVATE_TESTS,
    ),
    broken(
        "nobody is told of a ledger that stays open to others",
        "pixivflow/ledger/threaded.py",
        "        if opening.exposed:\n",
        "        if False:\n",
        PRIVATE_TESTS,
    ),
    broken(
        "the copy before a new schema is open to others",
        "pixivflow/ledger/migrate.py",
        "    make_private(partial)\n",
        "",
        PRIVATE_TESTS,
    ),
    broken(
        "a ledger that is set aside stays open to others",
        "pixivflow/ledger/check.py",
        '        narrowed(Path(f"{path}{suffix}"))\n',
        "",
        PRIVATE_TESTS,
    ),
)

VISIT = "pixivflow/control/visit.py"
VISIT_TESTS = ("tests/unit/control/test_triggers_misplaced.py",)

MISPLACED = (
    broken(
        "a token that is sent as a plan is answered and kept",
        VISIT,
        "_bounded(_without_secret(schedule_id, secret))",
        "_bounded(schedule_id)",
        VISIT_TESTS,
    ),
    broken(
        "half a token stands at the end of a path",
        VISIT,
        "path=_without_secret(asked.path, secret)[:PATH_MAX]",
        "path=_without_secret(asked.path[:PATH_MAX], secret)",
        VISIT_TESTS,
    ),
)

ROWS = (*NUMBERS, *WORDS, *ECHOES, *FILES, *ADDRESSES, *HEADERS, *LOGIN, *DISK, *LISTS, *PRIVATE, *MISPLACED)
