"""Pages under way: what is counted, what is continued, what a start removes."""

from tests.sabotages import Sabotage

ROOM = "pixivflow/download/"
RESUME, RECONCILE = "tests/edges/download/test_resume.py", "tests/edges/download/test_reconcile.py"
VERSIONS, STAGED = "tests/edges/download/test_versions.py", "tests/ledger/test_staged.py"


def row(name: str, file: str, find: str, replace: str, *tests: str) -> Sabotage:
    """`file` by its name in the room, or from the root."""
    return Sabotage(
        name=name, file=file if "/" in file else f"{ROOM}{file}.py", find=find, replace=replace, tests=tests
    )


COUNTED = (
    row(
        "a page that is all there is not written down",
        "marks",
        "degraded=degraded, sha256=sha256, form=form)",
        "degraded=degraded)",
        RESUME,
    ),
    row(
        "nothing is written down before the end",
        "transfer",
        "MARK_BYTES: Final = 8 << 20",
        "MARK_BYTES: Final = 1 << 40",
        RESUME,
    ),
    row(
        "a row counts bytes that the disk has not got",
        "part",
        "                os.fsync(self._opened.fileno())\n                self.synced",
        "                self.synced",
        RESUME,
    ),
    row(
        "an attempt that ends early says nothing",
        "marks",
        "        if version.validator and part.size > self._done.get(part.path, 0):",
        "        if False:",
        RESUME,
    ),
    row(
        "a file that cannot be known again is counted",
        "marks",
        "        if version.validator and part.size >",
        "        if part.size >",
        RESUME,
    ),
    row("a cancelled download is thrown away", "fetch", "Unavailable | trio.Cancelled)", "Unavailable)", RESUME),
    row("a full disk keeps its parts", "fetch", " and not isinstance(error, StorageFailed)", "", RESUME),
    row(
        "a ledger without room is a busy one",
        "pixivflow/ledger/staged.py",
        "        except StorageFull:\n            raise\n",
        "",
        STAGED,
    ),
    row(
        "a busy ledger keeps a work from being fetched",
        "pixivflow/ledger/staged.py",
        "        except Unavailable:\n            return False",
        "        except ZeroDivisionError:\n            return False",
        STAGED,
    ),
    row(
        "a filed work stays under way",
        "pixivflow/ledger/artifacts.py",
        "    db.execute(UNDER_WAY, about)\n",
        "",
        STAGED,
    ),
)

CONTINUED = (
    row("bytes that nobody counted are kept", "part", "                file.truncate(self.size)\n", "", RESUME),
    row(
        "the hash forgets what came before",
        "part",
        "self._sha, self.size = _hashed(",
        "_, self.size = _hashed(",
        RESUME,
    ),
    row("a part that is too short is continued", "part", "if self.size == begun[1]:", "if self.size:", RESUME),
    row(
        "what begins afresh overwrites what is counted",
        "part",
        "                self._opened.close()\n                self._file = None\n"
        "                self.path.unlink(missing_ok=True)\n                self._file = self._fresh()\n",
        "                self._opened.seek(0)\n                self._opened.truncate()\n"
        "                self._sha, self.size = hashlib.sha256(), 0\n",
        RESUME,
    ),
    row("a link is continued", "living", " | os.O_NOFOLLOW", "", RESUME),
    row(
        "a part that another process writes is taken",
        "living",
        "    except BlockingIOError:\n        return False\n",
        "    except BlockingIOError:\n        return True\n",
        RESUME,
        RECONCILE,
    ),
    row("a part is not locked", "part", "if is_alone(file.fileno()) and os.fstat", "if os.fstat", RESUME),
    row(
        "any partial answer is appended",
        "versions",
        "if found is None or int(found[1]) != at:",
        "if found is None:",
        VERSIONS,
        RESUME,
    ),
    row("a partial answer may be of another file", "versions", "== version.validator and", "is not None and", VERSIONS),
    row("a partial answer may be of a longer file", "versions", " and version.length in (None, length)", "", VERSIONS),
    row("a weak tag is trusted", "versions", "re.compile(r'\"[", "re.compile(r'(?:W/)?\"[", VERSIONS),
    row("a date is trusted without a length", "versions", "length is not None and not date", "not date", VERSIONS),
    row(
        "a smaller rendering is continued by its original",
        "marks",
        "begun.degraded == degraded and ",
        "",
        RESUME,
    ),
    row("an original is continued by its smaller rendering", "marks", " and Path(begun.part) == part.path", "", RESUME),
    row("a page of any folder is continued", "present", " or part.parent != folder", "", RESUME),
    row("a page of any age is continued", "present", " or not row.is_fresh(now)", "", RESUME),
    row("a day has two days", "pixivflow/slots/staging.py", "86_400_000", "172_800_000", STAGED, RESUME),
    row(
        "a page that was all there is believed",
        "present",
        "    if not _holds(Path(row.part), row.bytes_done, row.sha256):",
        "    if not Path(row.part).exists():",
        RESUME,
    ),
    row("parts of no use stay", "shelf", "        await self._removed(found.useless, threads)\n", "", RESUME),
    row(
        "every part is kept while the process lives",
        "shelf",
        "KEPT_WORKS: Final = 16",
        "KEPT_WORKS: Final = 999",
        RESUME,
    ),
    row(
        "nothing is missing, and it is asked for",
        "transfer",
        "self._part.size == self.version.length:",
        "self._part.size < 0:",
        RESUME,
    ),
)

STARTED = (
    row(
        "a start removes what a row names",
        "reconcile",
        "            fresh = [row for row in rows if row.is_fresh(now)]",
        "            fresh = [row for row in rows if row.at < 0]",
        RECONCILE,
    ),
    row(
        "a start keeps what is old",
        "reconcile",
        "            fresh = [row for row in rows if row.is_fresh(now)]",
        "            fresh = [*rows]",
        RECONCILE,
    ),
    row(
        "a row outlives its part",
        "reconcile",
        "        await staging.drop(lost)",
        "        await staging.drop([])",
        RECONCILE,
    ),
    row(
        "an old part in a folder of earlier settings stays",
        "reconcile",
        "[*_walked(bases), *named]",
        "[*_walked(bases)]",
        RECONCILE,
    ),
    row(
        "an old row may name any file",
        "reconcile",
        "[path for path in old if PART.fullmatch(path.name)]",
        "[*old]",
        RECONCILE,
    ),
    row(
        "a part is judged by how its path is called",
        "reconcile",
        "[path for path, file in taken if _of(os.fstat(file.fileno())) not in kept]",
        "[path for path, file in taken if f'{path}' not in {row.part for row in fresh} and file]",
        RECONCILE,
    ),
    row(
        "only the first parts go",
        "reconcile",
        "for start in range(0, len(found), AT_ONCE):",
        "for start in [0]:",
        RECONCILE,
    ),
    row(
        "a download by hand leaves what it finds",
        "pixivflow/daemon/adhoc.py",
        "        await tidied(settings, ledger, clock, note)\n",
        "",
        "tests/whole/test_parts.py::test_a_download_by_hand_removes_what_a_dead_daemon_left_and_nothing_of_a_living_one",
    ),
)

ROWS = (*COUNTED, *CONTINUED, *STARTED)
