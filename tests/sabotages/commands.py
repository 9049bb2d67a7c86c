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
LOADED_TESTS = ("tests/daemon/test_loaded.py",)


def breaking(name: str, file: str, find: str, replace: str, tests: tuple[str, ...]) -> Sabotage:
    return Sabotage(name=name, file=file, find=find, replace=replace, tests=tests)


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
        MAIN,
        "        error.show()\n        sys.exit(1)",
        "        error.show()\n        sys.exit(0)",
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
        "status makes a ledger", STATUS, "    if not path.is_file():", "    path.touch()\n    if False:", CONFIG_TESTS
    ),
)

ROUND = (
    breaking(
        "a second demo is played over the first",
        PLAY,
        '    if (folder / "ledger.db").exists():',
        "    if False:",
        DEMO_TESTS,
    ),
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
        "if handed.isdigit() and meant_for == str(os.getpid()):",
        "if handed.isdigit():",
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

ROWS = (*COMMANDS, *ROUND, *ADDRESSES, *DOOR)
