"""Bounds and signs at the edges, each of which is easily lost without anything else going wrong."""

from tests.sabotages import Sabotage

TRANSFER = "pixivflow/download/transfer.py"
PAGE = "pixivflow/download/page.py"
NAMING = "pixivflow/download/naming.py"
TRANSLATE = "pixivflow/pixiv/translate.py"
SOCKETS = "pixivflow/daemon/sockets.py"
PLAY = "pixivflow/cli/play.py"

TRANSFER_TESTS = ("tests/edges/download/test_transfer.py",)
NAMING_TESTS = ("tests/edges/download/test_naming.py",)
TRANSLATE_TESTS = ("tests/edges/pixiv/test_translate.py",)
DOOR_TESTS = ("tests/unit/control/test_server.py",)
DEMO_TESTS = ("tests/unit/test_demo_rule.py",)


def broken(name: str, file: str, find: str, replace: str, tests: tuple[str, ...]) -> Sabotage:
    return Sabotage(name=name, file=file, find=find, replace=replace, tests=tests)


ROWS = (
    broken(
        "any piece of a file is appended",
        "pixivflow/download/versions.py",
        "    if found is None or int(found[1]) != at:",
        "    if found is None:",
        TRANSFER_TESTS,
    ),
    broken(
        "JSON is let in as a picture",
        TRANSFER,
        'if not kind.startswith("image/") or',
        'if not kind.startswith(("image/", "application/json")) or',
        TRANSFER_TESTS,
    ),
    broken(
        "a file may be as large as a disk",
        TRANSFER,
        "FILE_BYTES: Final = 256 << 20",
        "FILE_BYTES: Final = 256 << 40",
        TRANSFER_TESTS,
    ),
    broken(
        "a file without end is read to its end",
        TRANSFER,
        "                        enough.cancel()\n",
        "                        pass\n",
        TRANSFER_TESTS,
    ),
    broken(
        "a file beyond its bound is kept",
        TRANSFER,
        '            raise Forbidden(f"a file of more',
        '            print(f"a file of more',
        TRANSFER_TESTS,
    ),
    broken(
        "the pause between two attempts at a file stays the same",
        PAGE,
        "min(effort.pause_ms * tries, ",
        "min(effort.pause_ms, ",
        TRANSFER_TESTS,
    ),
    broken(
        "the pause between two attempts at a file grows without end",
        PAGE,
        "min(effort.pause_ms * tries, effort.pause_ms * LONGEST)",
        "effort.pause_ms * tries",
        TRANSFER_TESTS,
    ),
    broken(
        "a folder of month and author is that of the download",
        NAMING,
        """        case "byDateAndAuthor":
            return _day(made, "%Y-%m")""",
        """        case "byDateAndAuthor":
            return _day(now, "%Y-%m")""",
        NAMING_TESTS,
    ),
    broken(
        "a folder of the download's month is that of the work",
        NAMING,
        """        case "byDownloadDate":
            return _day(now, "%Y-%m")""",
        """        case "byDownloadDate":
            return _day(made, "%Y-%m")""",
        NAMING_TESTS,
    ),
    broken("a work that says it is hidden is shown", TRANSLATE, "illust.visible is False or ", "", TRANSLATE_TESTS),
    broken(
        "a grey picture is the work",
        TRANSLATE,
        "is_hidden or any(PLACEHOLDER in url for url in each if url)",
        "is_hidden",
        TRANSLATE_TESTS,
    ),
    broken(
        "a body may take for ever",
        "pixivflow/times.py",
        "    body_ms: int = 10_000",
        "    body_ms: int = 10_000_000",
        DOOR_TESTS,
    ),
    broken(
        "connections have no bound",
        "pixivflow/control/serve.py",
        "CONNECTIONS_MAX: Final = 256",
        "CONNECTIONS_MAX: Final = 256_000",
        DOOR_TESTS,
    ),
    broken(
        "a door stays shut for a minute after the last life",
        SOCKETS,
        "            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n",
        "",
        ("tests/daemon/test_sockets.py",),
    ),
    broken("a demo whose daemon failed is whole", PLAY, "self.exit_code == 0", "self.exit_code >= 0", DEMO_TESTS),
    broken("a demo without a cell is whole", PLAY, "            and bool(cells)\n", "", DEMO_TESTS),
    broken(
        "a demo with a failed cell is whole",
        PLAY,
        'and all(cell.status == "submitted" for',
        'and any(cell.status == "submitted" for',
        DEMO_TESTS,
    ),
    broken(
        "a demo that forgot a route is whole", PLAY, "len(arrivals) == len(ROUTES)", "len(arrivals) >= 0", DEMO_TESTS
    ),
    broken(
        "a demo whose delivery came twice is whole",
        PLAY,
        "count == 1 for count in arrivals",
        "count >= 1 for count in arrivals",
        DEMO_TESTS,
    ),
    broken(
        "a demo whose delivery never came is whole",
        PLAY,
        "count == 1 for count in arrivals",
        "count <= 1 for count in arrivals",
        DEMO_TESTS,
    ),
)
