"""The sending side with one rule taken out: what is frozen, what leaves, where it may go, what an answer means."""

from tests.sabotages import Sabotage

CONTENT = "pixivflow/delivery/content.py"
MEDIA = "pixivflow/delivery/media.py"
PAYLOAD = "pixivflow/delivery/payload.py"
PLAN = "pixivflow/delivery/plan.py"
PROFILE = "pixivflow/delivery/profile.py"
TEMPLATES = "pixivflow/delivery/templates.py"
DEFERRAL = "pixivflow/delivery/deferral.py"
DEFERRALS = "pixivflow/ledger/deferrals.py"
LANE = "actors/outbox_lane.py"

ADDRESSES = "pixivflow/providers/addresses.py"
ATTEMPTS = "pixivflow/providers/attempts.py"
BODIES = "pixivflow/providers/bodies.py"
DOCUMENT = "pixivflow/providers/webhook_document.py"
EGRESS = "pixivflow/providers/egress.py"
EVIDENCE = "pixivflow/providers/evidence.py"
EXCHANGE = "pixivflow/providers/exchange.py"
FIELDS = "pixivflow/providers/multipart_fields.py"
FILES = "pixivflow/providers/files.py"
HEADERS = "pixivflow/providers/headers.py"
HEARING = "pixivflow/providers/hearing.py"
MULTIPART_ACK = "pixivflow/providers/multipart_ack.py"
MULTIPART_BODY = "pixivflow/providers/multipart_body.py"
RACE = "pixivflow/providers/race.py"
READINESS = "pixivflow/providers/readiness.py"
REVEAL = "pixivflow/providers/reveal.py"
STREAMS = "pixivflow/providers/streams.py"
SUBMISSION = "pixivflow/providers/http_multipart.py"
WEBHOOK = "pixivflow/providers/webhook.py"
WEBHOOK_ACK = "pixivflow/providers/webhook_ack.py"

UNIT, EDGE = "tests/unit/delivery/", "tests/edges/providers/"

T_CONTENT = (f"{UNIT}test_content.py",)
T_PAYLOAD = (f"{UNIT}test_payload.py",)
T_PLAN = (f"{UNIT}test_plan.py",)
T_TEMPLATES = (f"{UNIT}test_templates.py",)
T_DEFERRAL = (f"{UNIT}test_deferral.py", "tests/ledger/test_deferrals.py")
T_ADDRESSES = (f"{EDGE}test_addresses.py",)
T_POOL = (f"{EDGE}test_egress_pool.py",)
T_EXCHANGE = (f"{EDGE}test_exchange.py",)
T_ATTEMPTS = (f"{EDGE}test_attempts.py",)
T_WEBHOOK = (f"{EDGE}test_webhook.py",)
T_MULTIPART = (f"{EDGE}test_http_multipart.py",)
T_HEARING = (f"{EDGE}test_hearing.py",)
T_ACKS = (f"{EDGE}test_acks.py",)
T_READINESS = (f"{EDGE}test_readiness.py",)
T_POST = (f"{EDGE}test_post.py",)

FROZEN = (
    Sabotage(
        name="a receiver may repeat what the query of its address carries",
        file="pixivflow/providers/reveal.py",
        find="self._hidden.update(credentials_in(whole))",
        replace="",
        tests=("tests/edges/providers/test_attempts.py",),
    ),
    Sabotage(
        name="the log does not know what addresses carry",
        file="pixivflow/observe/known.py",
        find="yield from (word for word in credentials_in(value) if not REFERENCE.search(word))",
        replace="",
        tests=("tests/unit/observe/test_known.py",),
    ),
    Sabotage(
        name="internal files of a novel are sent",
        file=CONTENT,
        find="frozenset({Variant.TEXT, Variant.ZIP})",
        replace="frozenset({Variant.TEXT, Variant.ZIP, Variant.MARKDOWN})",
        tests=T_CONTENT,
    ),
    Sabotage(
        name="a file is sent twice",
        file=CONTENT,
        find="found = {each.path.strip(): each for each in reversed(chosen) if each.path.strip()}",
        replace="found = {f'{n:9}{each.path}': each for n, each in reversed([*enumerate(chosen)])}",
        tests=T_CONTENT,
    ),
    Sabotage(
        name="a file that is gone is promised",
        file=CONTENT,
        find="        if size is None:\n            raise",
        replace="        if size is False:\n            raise",
        tests=(*T_CONTENT, *T_POST),
    ),
    Sabotage(
        name="pictures stand before files",
        file=CONTENT,
        find="return (*map(single, files), *_together(images), *beside)",
        replace="return (*_together(images), *map(single, files), *beside)",
        tests=T_CONTENT,
    ),
    Sabotage(
        name="an album of one",
        file=CONTENT,
        find="if len(shown) > 1 else",
        replace="if shown else",
        tests=T_CONTENT,
    ),
    Sabotage(
        name="videos beside pictures make an album of their own",
        file=CONTENT,
        find="beside = _together(videos) if not images else tuple(map(single, videos))",
        replace="beside = _together(videos)",
        tests=T_CONTENT,
    ),
    Sabotage(
        name="the preview of one page is attached to another",
        file=CONTENT,
        find='previews = work.preview_files if len(work.preview_files) == len(files) else ("",) * len(files)',
        replace='previews = [*work.preview_files, *[""] * len(files)][: len(files)]',
        tests=T_CONTENT,
    ),
    Sabotage(
        name="the extension is read with its case",
        file=MEDIA,
        find=".suffix.lower()",
        replace=".suffix",
        tests=T_CONTENT,
    ),
    Sabotage(
        name="files are derived again beside a frozen content",
        file=PAYLOAD,
        find="        if self.content is not None:\n            return self.content\n",
        replace="",
        tests=(*T_PAYLOAD, *T_WEBHOOK),
    ),
    Sabotage(
        name="a payload of the future is sent as if it were known",
        file=PAYLOAD,
        find="if found.version not in VERSIONS:",
        replace="if False:",
        tests=T_PAYLOAD,
    ),
    Sabotage(
        name="a null of another program ends its row",
        file=PAYLOAD,
        find="_without_nulls(msgspec.json.decode(payload_json))",
        replace="msgspec.json.decode(payload_json)",
        tests=T_PAYLOAD,
    ),
    Sabotage(
        name="an unknown placeholder reaches the wire",
        file=TEMPLATES,
        find='values.get(found[1].strip(), "")',
        replace="values.get(found[1].strip(), found[0])",
        tests=T_TEMPLATES,
    ),
    Sabotage(
        name="a bare request id is passed on",
        file=TEMPLATES,
        find="canonical_uuid(of.refetch_request_id)",
        replace="of.refetch_request_id",
        tests=(*T_TEMPLATES, *T_MULTIPART),
    ),
    Sabotage(
        name="a route lifts the limit of its platform",
        file=PROFILE,
        find="return min(limit, wish) if limit else wish",
        replace="return wish",
        tests=T_PLAN,
    ),
    Sabotage(
        name="a work is published as bare text",
        file=PLAN,
        find="if found.unsupported and all(isinstance(part, TextPart) for part in found.parts):",
        replace="if False:",
        tests=(*T_PLAN, *T_WEBHOOK),
    ),
    Sabotage(
        name="what is left out is not said",
        file=PLAN,
        find="return _fitting(_text(found.parts), profile), found.parts, found.dropped",
        replace="return _fitting(_text(found.parts), profile), found.parts, ()",
        tests=(*T_PLAN, *T_WEBHOOK),
    ),
    Sabotage(
        name="a long text is clipped in silence",
        file=PLAN,
        find='return text[: profile.max_text_length - 1] + "…"',
        replace="return text[: profile.max_text_length]",
        tests=T_PLAN,
    ),
)

EGRESS_ROWS = (
    Sabotage(
        name="a cancelled request keeps its place in the pool",
        file=EGRESS,
        find="                await self._reclaim()",
        replace="                await trio.lowlevel.checkpoint()",
        tests=T_POOL,
    ),
    Sabotage(
        name="a cancelled handshake leaves its socket open",
        file=STREAMS,
        find="                await trio.aclose_forcefully(self._inner._stream)  # type: ignore[attr-defined]",
        replace="                await trio.lowlevel.checkpoint()",
        tests=T_POOL,
    ),
    Sabotage(
        name="deliveries reuse connections",
        file=EGRESS,
        find="max_keepalive_connections=connections if keep_alive else 0,",
        replace="max_keepalive_connections=connections,",
        tests=(*T_POOL, *T_ATTEMPTS),
    ),
    Sabotage(
        name="the libraries tell whole URLs",
        file=EGRESS,
        find="logging.getLogger(library).setLevel(logging.WARNING)",
        replace="logging.getLogger(library).setLevel(logging.DEBUG)",
        tests=T_POOL,
    ),
    Sabotage(
        name="behind a proxy no name is judged",
        file=EGRESS,
        find="        if self._asked is not None:",
        replace="        if False:",
        tests=T_ADDRESSES,
    ),
    Sabotage(
        name="one good address opens the way to a bad one",
        file=ADDRESSES,
        find="if not all(self._allow(address) for address in found):",
        replace="if not any(self._allow(address) for address in found):",
        tests=T_ADDRESSES,
    ),
    Sabotage(
        name="the name is looked up once more after it was judged",
        file=ADDRESSES,
        find="return await self._inner.connect_tcp(address, port, None, local_address, socket_options)",
        replace="again = await self._resolve(host, port)\n"
        "            return await self._inner.connect_tcp(again[0], port, None, local_address, socket_options)",
        tests=T_ADDRESSES,
    ),
    Sabotage(
        name="an address in the dress of another family is not seen through",
        file=ADDRESSES,
        find="        if where.ipv4_mapped is not None:",
        replace="        if False:",
        tests=T_ADDRESSES,
    ),
    Sabotage(
        name="an address behind a relay counts as public",
        file=ADDRESSES,
        find="any(where in network for network in _TUNNELLED)",
        replace="False",
        tests=T_ADDRESSES,
    ),
    Sabotage(
        name="a group of hosts counts as public",
        file=ADDRESSES,
        find="return where.is_global and not where.is_multicast",
        replace="return where.is_global",
        tests=T_ADDRESSES,
    ),
    Sabotage(
        name="a dead address eats the deadline of a good one",
        file=RACE,
        find="with trio.move_on_after(HEAD_START_S):",
        replace="with trio.CancelScope():",
        tests=T_ADDRESSES,
    ),
    Sabotage(
        name="a connection that stands as its caller is cancelled stays open",
        file=RACE,
        find="    except BaseException:\n        await _close(won)\n        raise",
        replace="    except BaseException:\n        raise",
        tests=T_ADDRESSES,
    ),
    Sabotage(
        name="names are looked up in everybody's threads",
        file=ADDRESSES,
        find="abandon_on_cancel=True, limiter=limiter)",
        replace="abandon_on_cancel=True, limiter=None)",
        tests=T_ADDRESSES,
    ),
)

LINE = (
    Sabotage(
        name="an answer of any length is read",
        file=EXCHANGE,
        find="            if len(read) > limit:\n                enough.cancel()\n",
        replace="",
        tests=T_EXCHANGE,
    ),
    Sabotage(
        name="a packed answer is unpacked without a bound",
        file=EXCHANGE,
        find="read += unpack(piece, max(1, limit + 1 - len(read)))",
        replace="read += unpack(piece, 0)",
        tests=T_EXCHANGE,
    ),
    Sabotage(
        name="a request has no deadline of its own",
        file=EXCHANGE,
        find="with trio.move_on_after(call.timeout_ms / 1000):",
        replace="with trio.move_on_after(10**6):",
        tests=T_EXCHANGE,
    ),
    Sabotage(
        name="an attempt before its first byte is taken for one that may have arrived",
        file=EXCHANGE,
        find="        self.bytes_left = False",
        replace="        self.bytes_left = True",
        tests=(*T_EXCHANGE, *T_ATTEMPTS),
    ),
    Sabotage(
        name="an attempt that may have arrived is taken for one that did not",
        file=EXCHANGE,
        find="            self.bytes_left = True",
        replace="            self.bytes_left = False",
        tests=(*T_EXCHANGE, *T_POST),
    ),
    Sabotage(
        name="a proxy's tunnel is taken for the request",
        file=EXCHANGE,
        find=' and getattr(request, "method", b"") != b"CONNECT"',
        replace="",
        tests=T_EXCHANGE,
    ),
    Sabotage(
        name="a receiver that is gone counts as a mistake of the operator",
        file=EXCHANGE,
        find="Signal.CONFIGURATION if refused else Signal.TRANSPORT",
        replace="Signal.CONFIGURATION",
        tests=T_EXCHANGE,
    ),
    Sabotage(
        name="bytes that are no utf-8 hide a verdict",
        file=HEARING,
        find='answer.body.decode(json.detect_encoding(answer.body), "replace")',
        replace='answer.body.decode("utf-8", "ignore")',
        tests=T_HEARING,
    ),
    Sabotage(
        name="a bug in an attempt is raised at the pump",
        file=ATTEMPTS,
        find="        except Exception as error:",
        replace="        except NotImplementedError as error:",
        tests=T_ATTEMPTS,
    ),
    Sabotage(
        name="a bug counts as an attempt that did not leave",
        file=ATTEMPTS,
        find="text=told, bytes_left=True",
        replace="text=told, bytes_left=False",
        tests=T_ATTEMPTS,
    ),
    Sabotage(
        name="the routes are read once",
        file=ATTEMPTS,
        find="        route = self.routes().get(row.route)",
        replace="        seen = self.files.__dict__.setdefault('seen', dict(self.routes()))\n"
        "        route = seen.get(row.route)",
        tests=T_ATTEMPTS,
    ),
    Sabotage(
        name="what a receiver repeats of our secrets is kept",
        file=ATTEMPTS,
        find="return reveal.discreet(ack)",
        replace="return ack",
        tests=T_ATTEMPTS,
    ),
    Sabotage(
        name="only the first of two secrets is hidden",
        file=REVEAL,
        find="        self._hidden.add(whole)\n        return whole\n\n    def header",
        replace="        return whole\n\n    def header",
        tests=T_ATTEMPTS,
    ),
    Sabotage(
        name="a header may hold a line break",
        file=HEADERS,
        find="    if not is_header_value(value):",
        replace="    if False:",
        tests=T_ATTEMPTS,
    ),
    Sabotage(
        name="a configured header replaces ours",
        file=HEADERS,
        find="    return [*above, *((name, value) for name, value in below if name.lower() not in taken)]",
        replace="    return [*above, *((name, value) for name, value in below if name not in taken)]",
        tests=(*T_WEBHOOK, *T_MULTIPART),
    ),
    Sabotage(
        name="a configured header breaks the framing",
        file=HEADERS,
        find=" if name.lower() not in _FRAMING]",
        replace="]",
        tests=T_WEBHOOK,
    ),
    Sabotage(
        name="a pipe in the place of a file stops the route for ever",
        file=FILES,
        find="return found.st_size if stat.S_ISREG(found.st_mode) else None",
        replace="return found.st_size",
        tests=T_ATTEMPTS,
    ),
    Sabotage(
        name="a file that changed while it was sent passes for whole",
        file=FILES,
        find="    if found.st_size != expected_bytes or len(read) != length:",
        replace="    if False:",
        tests=T_MULTIPART,
    ),
    Sabotage(
        name="a missing file is retried",
        file=FILES,
        find='raise LocalFault(f"{os.path.basename(path)} is gone", lasting=True)',
        replace='raise LocalFault(f"{os.path.basename(path)} is gone", lasting=False)',
        tests=(*T_ATTEMPTS, *T_POST),
    ),
)

WIRE = (
    Sabotage(
        name="inline files have no limit",
        file=DOCUMENT,
        find="if 0 < route.max_inline_bytes < whole:",
        replace="if False:",
        tests=T_WEBHOOK,
    ),
    Sabotage(
        name="the inline limit counts bytes instead of letters",
        file=DOCUMENT,
        find="sum(4 * -(-length // 3) for length in lengths.values())",
        replace="sum(lengths.values())",
        tests=T_WEBHOOK,
    ),
    Sabotage(
        name="a local path leaves to a gateway far away",
        file=DOCUMENT,
        find="path=media.path if data is None else UNSET,",
        replace="path=media.path,",
        tests=T_WEBHOOK,
    ),
    Sabotage(
        name="an album is one entry",
        file=DOCUMENT,
        find='yield from (Entry(kind="album", media=_medium(item, inline)) for item in items)',
        replace='yield Entry(kind="album", media=_medium(items[0], inline))',
        tests=T_WEBHOOK,
    ),
    Sabotage(
        name="the signature is not over the time",
        file=WEBHOOK,
        find='stamp.encode() + b"." + body',
        replace='b"." + body',
        tests=T_WEBHOOK,
    ),
    Sabotage(
        name="a route without a secret is signed by its configuration",
        file=WEBHOOK,
        find=" if name.lower() not in _SIGNATURE]",
        replace="]",
        tests=T_WEBHOOK,
    ),
    Sabotage(
        name="the key is not sent with a submission",
        file=FIELDS,
        find="    if route.auto_idempotency_key and not KEY_FIELDS & given.keys():",
        replace="    if False:",
        tests=T_MULTIPART,
    ),
    Sabotage(
        name="the key is sent although the route has one",
        file=FIELDS,
        find=" and not KEY_FIELDS & given.keys()",
        replace="",
        tests=T_MULTIPART,
    ),
    Sabotage(
        name="an unfilled provenance is submitted",
        file=FIELDS,
        find="if name == REFETCH_FIELD and PLACEHOLDER.search(text):",
        replace="if False:",
        tests=T_MULTIPART,
    ),
    Sabotage(
        name="the route's fields win over the target's",
        file=FIELDS,
        find="{**route.fields, **(payload.fields or {})}",
        replace="{**(payload.fields or {}), **route.fields}",
        tests=T_MULTIPART,
    ),
    Sabotage(
        name="a file's folder leaves with its name",
        file=MULTIPART_BODY,
        find="escaped(os.path.basename(part.path))",
        replace="escaped(part.path)",
        tests=T_MULTIPART,
    ),
    Sabotage(
        name="a name can end its quotes",
        file=MULTIPART_BODY,
        find=""".replace('"', "%22")""",
        replace="",
        tests=T_MULTIPART,
    ),
    Sabotage(
        name="the length of a submission is wrong",
        file=MULTIPART_BODY,
        find="length += len(head) + part.size + 2",
        replace="length += len(head) + part.size + 1",
        tests=T_MULTIPART,
    ),
    Sabotage(
        name="previews that do not fit are sent",
        file=SUBMISSION,
        find="if previews and len(previews) != len(sent):",
        replace="if False:",
        tests=T_MULTIPART,
    ),
)

ANSWERS = (
    Sabotage(
        name="a conflict outranks the gateway's word",
        file=WEBHOOK_ACK,
        find="    if word in ENDED_BADLY:",
        replace="    if word in ENDED_BADLY and status != CONFLICT:",
        tests=T_ACKS,
    ),
    Sabotage(
        name="an unknown word is a success",
        file=WEBHOOK_ACK,
        find="    if word and word not in GOOD:",
        replace="    if False:",
        tests=T_ACKS,
    ),
    Sabotage(
        name="a gateway that has queued the work has published it",
        file=WEBHOOK_ACK,
        find="if word in UNDECIDED or status",
        replace="if status",
        tests=T_ACKS,
    ),
    Sabotage(
        name="a redirect of a gateway is a success",
        file=WEBHOOK_ACK,
        find="    if status >= 300:",
        replace="    if status >= 400:",
        tests=(*T_ACKS, *T_ATTEMPTS),
    ),
    Sabotage(
        name="the key that a conflict names is not kept",
        file=WEBHOOK_ACK,
        find='matched_key=text_of(told.get("matched_idempotency_key")),',
        replace="matched_key=None,",
        tests=(*T_ACKS, *T_ATTEMPTS),
    ),
    Sabotage(
        name="a reused failed record is a replay",
        file=MULTIPART_ACK,
        find="    if state in ENDED_BADLY:",
        replace="    if state in ENDED_BADLY and not record.get(names.reused_field):",
        tests=(*T_ACKS, *T_POST),
    ),
    Sabotage(
        name="anything that looks true is a reuse",
        file=MULTIPART_ACK,
        find="if record.get(names.reused_field) is not True:",
        replace="if not record.get(names.reused_field):",
        tests=T_ACKS,
    ),
    Sabotage(
        name="a 408 is final",
        file=MULTIPART_ACK,
        find="frozenset({408, 429})",
        replace="frozenset({429})",
        tests=(*T_ACKS, *T_POST),
    ),
    Sabotage(
        name="a conflict names no key to a submission",
        file=MULTIPART_ACK,
        find="        key = _key(record or body, names)",
        replace="        key = None",
        tests=T_ATTEMPTS,
    ),
    Sabotage(
        name="a wish to be asked later is not heard",
        file=EVIDENCE,
        find="    if wish.isascii() and wish.isdecimal():",
        replace="    if False:",
        tests=T_ACKS,
    ),
    Sabotage(
        name="a wish may last for ever",
        file=EVIDENCE,
        find="return min(int(wish[:9]) * 1_000, LONGEST_WISH_MS)",
        replace="return int(wish[:9]) * 1_000",
        tests=T_ACKS,
    ),
)

GATE = (
    Sabotage(
        name="a receiver that is not ready is sent to",
        file=LANE,
        find="    if (why := await parts.ready(route)) is not None:",
        replace="    if (why := None) is not None:",
        tests=("tests/actors/test_outbox_pump.py", *T_POST),
    ),
    Sabotage(
        name="a deferral is told of at every look",
        file=DEFERRAL,
        find="    if last_told_at is not None and last_told_at <= now < last_told_at + every_ms:",
        replace="    if False:",
        tests=(*T_DEFERRAL, *T_POST),
    ),
    Sabotage(
        name="any event of a row silences its deferral",
        file=DEFERRALS,
        find="outbox_id = ? AND event = ?",
        replace="outbox_id = ? AND ? <> ''",
        tests=T_DEFERRAL,
    ),
    Sabotage(
        name="a receiver that is not ready is asked again at once",
        file=READINESS,
        find="            self._said[route] = (self.now(), why)",
        replace="            pass",
        tests=(*T_READINESS, *T_POST),
    ),
    Sabotage(
        name="a yes is remembered",
        file=READINESS,
        find="        if why is not None:\n            self._said",
        replace="        if True:\n            self._said",
        tests=T_READINESS,
    ),
    Sabotage(
        name="an unset variable makes a route wait for ever",
        file=READINESS,
        find="            return None  # the attempt will say what is wrong, and to whom",
        replace='            return Unready(reason="connection_refused")',
        tests=T_READINESS,
    ),
    Sabotage(
        name="any answer is ready",
        file=READINESS,
        find="return None if 200 <= status <= 299 else",
        replace="return None if status else",
        tests=T_READINESS,
    ),
)

ROWS = (*FROZEN, *EGRESS_ROWS, *LINE, *WIRE, *ANSWERS, *GATE)
