"""The sandbox: a fake that is not strict, or miscounts, makes every test against it a lie."""

from tests.sabotages import Sabotage

AREAS = (
    *("world", "lists", "oauth", "hosts", "images", "pictures", "rules"),
    *("faults_on_the_wire", "sink", "control", "http", "tls", "shapes", "rankings"),
)
WORLD, LISTS, OAUTH, HOSTS, IMAGES, PICTURES, RULES, FAULTS, SINK, CONTROL, HTTP, TLS, SHAPES, RANKINGS = (
    f"tests/edges/sandbox/test_{area}.py" for area in AREAS
)


def breaking(name: str, module: str, find: str, replace: str, *tests: str) -> Sabotage:
    return Sabotage(name=name, file=f"pixivflow/sandbox/{module}.py", find=find, replace=replace, tests=tests)


SERVICE = (
    breaking("an expired token is good", "tokens", "get(access, 0) > now", "get(access, 0) >= 0", OAUTH),
    breaking("a rotating token stays good", "tokens", "        old.is_revoked = True\n", "", OAUTH),
    breaking("a code is good for ever", "tokens", "now - known.made_at >= CODE_TTL_MS", "False", OAUTH),
    breaking("a code is good twice", "tokens", "        known.is_used = True\n", "", OAUTH),
    breaking("a code is good for anybody", "tokens", "return known.challenge == challenge", "return True", OAUTH),
    breaking("any client may ask for tokens", "oauth", "!= (CLIENT_ID, CLIENT_SECRET)", "== (None, None)", OAUTH),
    breaking(
        "nobody looks at the client's hash", "oauth", "if not near or not hmac", "if not near and not hmac", OAUTH
    ),
    breaking("a login needs no S256", "oauth", 'get("code_challenge_method") != "S256"', 'get("state")', OAUTH),
    breaking("data is given without a token", "api", "        check_bearer(request, tokens, call)\n", "", OAUTH),
    breaking("an answer outlives a changed world", "model", "        self.derived.clear()\n", "", CONTROL),
    breaking("a ranking of tomorrow is there", "illusts", "if day > newest:", "if day > day:", RANKINGS),
    breaking("lists show everything to everybody", "search", "and entry.work.x_restrict > 0", "and False", LISTS),
    breaking("one word of several is enough", "search", "        if all(MATCHES", "        if any(MATCHES", LISTS),
    breaking(
        "case and width of a word count", "search", 'normalize("NFKC", text).lower()', 'normalize("NFC", text)', LISTS
    ),
    breaking(
        "a page begins one too late", "calls", "return ids[offset:following]", "return ids[offset + 1:following]", LISTS
    ),
    breaking("a search has no end", "calls", "and (end is None or following < end)", "", LISTS),
    breaking("private bookmarks are anybody's", "illusts", "and user_id != VIEWER", "and False", LISTS),
    breaking("a bookmark stands on two pages", "illusts", "each.id < before)", "each.id <= before)", LISTS),
    breaking(
        "a deleted work is shown",
        "illusts",
        "work is None or work.visibility is Visibility.DELETED",
        "work is None",
        WORLD,
    ),
    breaking("the world depends on the hour", "blocks", 'Random(f"works/{seed}")', "Random()", WORLD),
    breaking(
        "any name below the domain answers",
        "hosts",
        'return Place("none", "", path)\n    first',
        "pass\n    first",
        HOSTS,
    ),
    breaking(
        "the TLS port names the plain one", "state", "REAL_BASES if request.tls else self._bases", "self._bases", HOSTS
    ),
)

PICTURE = (
    breaking("pictures are given to anybody", "imagehost", "if not is_referred(request):", "if False:", IMAGES),
    breaking("a wrong address leads to a picture", "imagehost", "and original_path(work, page) == path", "", IMAGES),
    breaking("a changed picture is continued", "ranges", "validator is None or", "True or", IMAGES),
    breaking("a range is one byte short", "ranges", "whole.body[first : last + 1]", "whole.body[first:last]", IMAGES),
    breaking("noise holds end markers", "pictures", ".translate(END_MARKERS)", "", PICTURES),
    breaking(
        "padding stands behind the picture", "pictures", "return head + pad(", "return head + tail + pad(", PICTURES
    ),
)

MISHAP = (
    breaking("a rule never ends", "rules", "bool(count and self.hits >= count)", "False", RULES),
    breaking("a rule skips nothing", "rules", "self.seen <= self.order.skip or", "", RULES),
    breaking("a miss of the dice is a hit", "rules", "or self.rng.random() >= self.order.p", "", RULES),
    breaking("a condition is enough", "rules", "            and match.work in (None, seen.work)\n", "", RULES),
    breaking("a bucket never fills up", "rules", "+ (seen.at_ms - at) *", "+ 0 *", RULES),
    breaking("a lost request is an arrival", "mishaps", 'if rule.order.when == "after" else (OK, None)', "", SINK),
    breaking(
        "a lost answer counts as given", "mishaps", '"dropped" if wire.is_lost else str(reply.status)', '"200"', SINK
    ),
    breaking("a cut answer is whole", "sending", "reply.body[: wire.cut_at]", "reply.body", FAULTS),
    breaking(
        "a reset is a polite end", "http", "                reset(self._stream)\n", "                pass\n", FAULTS
    ),
    breaking("nobody is away", "doors", "            self._refuse(shut_ms)\n", "            pass\n", FAULTS),
)

RECEIVER = (
    breaking("two arrivals are one", "receipts", "receipt.arrivals += 1", "receipt.arrivals = 1", SINK),
    breaking("a boundary is a part of the body", "sink", ", digest(parts)", ", _sha256(request)", SINK),
    breaking(
        "a part may end anywhere",
        "multipart",
        "or chunks[-1] not in",
        "or chunks[-1] in (b'?',) and chunks[-1] not in",
        SINK,
    ),
    breaking(
        "the name of a file does not count",
        "multipart",
        "for piece in (part.head, part.body):",
        "for piece in (part.body,):",
        SINK,
    ),
    breaking(
        "a signature is over the body alone", "sink", 'stamp.encode() + b"." + request.body', "request.body", SINK
    ),
    breaking("an old signature is good", "sink", "> SKEW_S * 1_000", "> SKEW_S * 10_000", SINK),
    breaking("a delivery without a key arrives", "sink", "    if not key:\n", "    if key is None:\n", SINK),
    breaking("half a body arrives", "sink", "    if not request.is_whole:\n", "    if request.is_oversized:\n", SINK),
    breaking(
        "a receiver says accepted again",
        "shapes",
        '"duplicate" if receipt.is_known else "accepted"',
        '"accepted"',
        SHAPES,
    ),
    breaking(
        "to read receipts is an arrival",
        "service",
        "or place.full == RECEIPTS:\n            return place, None",
        "or False:\n            return place, None",
        SINK,
    ),
)

SERVER = (
    breaking(
        "a second request is forgotten", "reading", "            if rest:  #", "            if not rest:  #", HTTP
    ),
    breaking(
        "whoever waits to be asked waits for ever",
        "reading",
        "if self._h11.they_are_waiting_for_100_continue:",
        "if False:",
        HTTP,
    ),
    breaking("a broken body is a whole one", "reading", "is_whole=False", "is_whole=True", HTTP),
    breaking(
        "a body has no limit",
        "reading",
        "        if size > limit:\n            return",
        "        if size < 0:\n            return",
        HTTP,
    ),
    breaking(
        "a bug ends the sandbox", "http", "        except Exception:\n", "        except ConnectionError:\n", HTTP
    ),
    breaking(
        "a stop waits for who is idle",
        "http",
        "        if self._is_idle:\n",
        "        if self._is_last and not self._is_idle:\n",
        HTTP,
    ),
    breaking("a stop cuts who is heard", "doors", "            await self._empty.wait()\n", "            pass\n", HTTP),
    breaking("a held request holds a stop", "doors", "        self._service.state.gates.release_all()\n", "", HTTP),
    breaking(
        "a certificate is for any name",
        "certificates",
        "der.seq(*map(_alternative, names))",
        'der.seq(_alternative("*.pixiv.net"))',
        TLS,
    ),
    breaking("a key stays on the disk", "tls", "        chain.unlink()\n", "", TLS),
    breaking(
        "a reset keeps the rules",
        "state",
        "        self.rules = Rules(options.seed)\n",
        "        self.rules = getattr(self, 'rules', Rules(options.seed))\n",
        CONTROL,
    ),
    breaking("a record tells the token", "journal", 'if name in ("authorization",', 'if name in ("none",', CONTROL),
    breaking("an expectation is always met", "journal", "if found < least or", "if False and", CONTROL),
)

ROWS = (*SERVICE, *PICTURE, *MISHAP, *RECEIVER, *SERVER)
