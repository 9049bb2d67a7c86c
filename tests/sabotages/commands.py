"""The command line and the way to the first answer: what is printed, what is refused, what is loaded too early."""

from tests.sabotages import Sabotage

MAIN, DEMO, PLAY = "pixivflow/cli/main.py", "pixivflow/cli/demo.py", "pixivflow/cli/play.py"
CONFIG, STATUS, RENDER = "pixivflow/cli/config.py", "pixivflow/cli/status.py", "pixivflow/cli/render.py"
LINKS, SOCKETS, RESOLVED = "pixivflow/pixiv/links.py", "pixivflow/daemon/sockets.py", "pixivflow/daemon/resolved.py"
STRUCTURED = "pixivflow/observe/structured.py"

CLI_TESTS = ("tests/unit/test_cli.py",)
DEMO_TESTS = ("tests/commands/test_demo.py",)
CONFIG_TESTS = ("tests/commands/test_config.py",)
DOWNLOAD_TESTS = ("tests/commands/test_download.py",)
LINKS_TESTS = ("tests/unit/test_links.py",)
SOCKETS_TESTS = ("tests/daemon/test_sockets.py",)
RESOLVED_TESTS = ("tests/daemon/test_resolved.py",)
GAPS, GAPS_TESTS = "pixivflow/daemon/gaps.py", ("tests/daemon/test_gaps.py",)
LOADED_TESTS = ("tests/daemon/test_loaded.py",)


def breaking(name: str, file: str, find: str, replace: str, tests: tuple[str, ...]) -> Sabotage:
    return Sabotage(name=name, file=file, find=find, replace=replace, tests=tests)


ENDINGS = (
    breaking(
        "a signal at the very end kills",
        "pixivflow/daemon/lifecycle.py",
        "signal.signal(number, signal.SIG_IGN if is_last else handler)",
        "signal.signal(number, handler)",
        ("tests/daemon/test_signals.py",),
    ),
    breaking(
        "a reload before the daemon is up kills it",
        "pixivflow/daemon/start.py",
        "    signal.signal(signal.SIGHUP, signal.SIG_IGN)",
        "    signal.signal(signal.SIGCHLD, signal.SIG_DFL)",
        ("tests/daemon/test_signals.py",),
    ),
    breaking(
        "ctrl-c in a nursery is a bug",
        "pixivflow/cli/ending.py",
        "    if error.subgroup(KeyboardInterrupt) is not None:",
        "    if None:",
        ("tests/unit/test_cli_ending.py",),
    ),
    breaking(
        "a bug is told like a fault of the user's",
        "pixivflow/cli/ending.py",
        "            _say(stack(bug), as_json=as_json)",
        '            _say(f"{bug}", as_json=as_json)',
        ("tests/unit/test_cli_ending.py",),
    ),
    breaking(
        "status does not ask whose file it is",
        "pixivflow/ledger/story.py",
        "        version = version_found(path, newest)",
        "        version = newest",
        ("tests/commands/test_status.py",),
    ),
    breaking(
        "a demo writes over what lies in its folder",
        "pixivflow/cli/demo.py",
        "        if any(folder.iterdir()):",
        "        if None:",
        DEMO_TESTS,
    ),
    breaking(
        "the last one out leaves the rows in the log",
        "pixivflow/ledger/connection.py",
        '    db.steer("SELECT 1")\n',
        "",
        ("tests/ledger/test_core_end.py",),
    ),
)

COMMANDS = (
    breaking(
        "the help imports what a command needs",
        MAIN,
        "import click\n\nfrom pixivflow import __version__",
        "import click\nimport trio\n\nfrom pixivflow import __version__",
        CLI_TESTS,
    ),
    breaking(
        "an unknown command is not told what it may have meant",
        MAIN,
        "near = difflib.get_close_matches(args[0], COMMANDS)",
        "near = difflib.get_close_matches(args[0], COMMANDS, cutoff=1)",
        CLI_TESTS,
    ),
    breaking(
        "what is wrong with a call ends it well",
        "pixivflow/cli/ending.py",
        "    return FAILED\n",
        "    return 0\n",
        CLI_TESTS,
    ),
    breaking(
        "an invalid configuration ends well",
        CONFIG,
        "    sys.exit(1 if report.errors else 0)",
        "    sys.exit(0)",
        CONFIG_TESTS,
    ),
    breaking(
        "status makes a ledger",
        STATUS,
        "    told = story(path, last)",
        "    path.touch()\n    told = story(path, last)",
        CONFIG_TESTS,
    ),
)

ROUND = (
    breaking(
        "the demo takes the settings of the user's own daemon",
        PLAY,
        "    environ: dict[str, str] = {}",
        "    import os\n    environ: dict[str, str] = dict(os.environ)",
        DEMO_TESTS,
    ),
    breaking(
        "the progress of the demo is written where nobody looks",
        RENDER,
        "    if not sys.stderr.isatty():\n        yield lambda text: None",
        "    if not sys.stderr.isatty():\n        yield lambda text: print(text, file=sys.stderr)",
        DEMO_TESTS,
    ),
    breaking(
        "a folder that cannot be made is a traceback",
        DEMO,
        "    except OSError as error:",
        "    except FileExistsError as error:",
        DEMO_TESTS,
    ),
)

ADDRESSES = (
    breaking(
        "a host that only ends like Pixiv's is Pixiv",
        LINKS,
        "if parts.hostname in HOSTS else None",
        'if (parts.hostname or "").endswith("pixiv.net") else None',
        LINKS_TESTS,
    ),
    breaking(
        "digits of any script are a number",
        LINKS,
        "    if found is None or not ID.fullmatch(found):",
        "    if found is None or not found.isdigit():",
        LINKS_TESTS,
    ),
    breaking(
        "a language before the path is an error",
        LINKS,
        "    if LANGUAGE.fullmatch(first) and rest:",
        "    if False:",
        LINKS_TESTS,
    ),
)

DOOR = (
    breaking(
        "sockets meant for another process are taken",
        SOCKETS,
        "    if meant_for != str(os.getpid()) or not count:",
        "    if not count:",
        SOCKETS_TESTS,
    ),
    breaking(
        "children believe that the hand-over is meant for them",
        SOCKETS,
        '    environ.pop("LISTEN_FDNAMES", None)',
        "    pass",
        SOCKETS_TESTS,
    ),
    breaking(
        "callers are not taken in before somebody serves",
        SOCKETS,
        "            taken.listen(BACKLOG)",
        "            pass",
        SOCKETS_TESTS,
    ),
    breaking(
        "each plan has a lane of its own",
        RESOLVED,
        "            lane=lane,",
        "            lane=each.id,",
        RESOLVED_TESTS,
    ),
    breaking(
        "a plan that is switched off is armed",
        RESOLVED,
        "armed_at if each.enabled else None",
        "armed_at",
        RESOLVED_TESTS,
    ),
    breaking(
        "the first line of the log loads the library of the log",
        STRUCTURED,
        "if made is None and not _is_loaded:",
        "if False:",
        LOADED_TESTS,
    ),
)

IN_VAIN = (
    breaking(
        "a key that nothing reads is accepted in silence",
        GAPS,
        '    Row("initialDelay", other_than(0), "nothing is delayed by this version"),\n',
        "",
        GAPS_TESTS,
    ),
    breaking(
        "a key that is read is said to be asked for in vain",
        GAPS,
        '    Row("jobs", written,',
        '    Row("download.concurrency", written, "x"),\n    Row("jobs", written,',
        GAPS_TESTS,
    ),
    breaking(
        "who asks for what happens anyway is warned",
        GAPS,
        "if value is not None and row.asked(value):",
        "if value is not None:",
        GAPS_TESTS,
    ),
    breaking(
        "a row about one type of route speaks of all of them",
        GAPS,
        'if isinstance(each, dict) and each.get("type") == kind:',
        "if isinstance(each, dict):",
        GAPS_TESTS,
    ),
    breaking(
        "a key is warned of twice",
        GAPS,
        "if each.field not in named)",
        "if True)",
        GAPS_TESTS,
    ),
    breaking(
        "a file that is read again asks in vain in silence",
        "pixivflow/daemon/program.py",
        "        return with_gaps(await read())",
        "        return await read()",
        GAPS_TESTS,
    ),
    breaking(
        "a daemon starts without a word about what it is asked in vain",
        "pixivflow/daemon/start.py",
        "    warn(log.note, with_gaps(loaded))",
        "    warn(log.note, loaded)",
        CONFIG_TESTS,
    ),
)

ROWS = (*ENDINGS, *COMMANDS, *ROUND, *ADDRESSES, *DOOR, *IN_VAIN)
