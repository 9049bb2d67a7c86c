"""Configuration and log: what is found, what is put in force, what is told to nobody."""

from tests.sabotages import Sabotage

JUDGES, SHAPE = "pixivflow/config/validate/judges.py", "pixivflow/config/validate/shape.py"
WORDS, ADDRESSES = "pixivflow/config/validate/words.py", "pixivflow/config/validate/addresses.py"
CRON = "pixivflow/scheduling/cron.py"
DOORS, OWED = "pixivflow/config/validate/rules/doors.py", "pixivflow/config/validate/rules/owed.py"
DOCUMENT, DEPTH = "pixivflow/config/load/document.py", "pixivflow/config/load/depth.py"
OVERRIDES, PROXIES = "pixivflow/config/load/overrides.py", "pixivflow/config/load/proxies.py"
PATHS, RESOLVE = "pixivflow/config/load/paths.py", "pixivflow/config/load/resolve.py"
MASK, MODEL = "pixivflow/config/mask.py", "pixivflow/config/model/targets.py"
REFERENCES = "pixivflow/config/references.py"
DECIDE, WATCHER = "pixivflow/config/watch/decide.py", "pixivflow/config/watch/watcher.py"
FOLDER = "pixivflow/config/watch/folder.py"
REDACT, LOG = "pixivflow/observe/redact.py", "pixivflow/observe/log.py"
LINES, STRUCTURED = "pixivflow/observe/lines.py", "pixivflow/observe/structured.py"
LEVELS = "pixivflow/observe/levels.py"
FAULTS, KNOWN = "pixivflow/observe/faults.py", "pixivflow/observe/known.py"

UNIT, EDGES, OBSERVE = "tests/unit/config/", "tests/edges/config/", "tests/unit/observe/"


def breaking(name: str, file: str, find: str, replace: str, tests: str) -> Sabotage:
    return Sabotage(name=name, file=file, find=find, replace=replace, tests=(tests,))


VALIDATION = (
    breaking(
        "a ledger that is not there is made elsewhere",
        PATHS,
        """        found.append(finding(Level.ERROR, "PATH_UNUSABLE",""",
        """        written = base / default
        found.append(finding(Level.WARNING, "PATH_UNUSABLE",""",
        EDGES + "test_paths.py",
    ),
    breaking(
        "an empty name lets any file be taken",
        "pixivflow/config/load/discover.py",
        "    if asked or explicit is not None:",
        "    if asked:",
        EDGES + "test_discover.py",
    ),
    breaking(
        "true counts as a number",
        JUDGES,
        "    return isinstance(value, int) and not isinstance(value, bool)\n",
        "    return isinstance(value, int)\n",
        UNIT + "test_validate_targets.py",
    ),
    breaking(
        "a number out of range is warned about and used",
        JUDGES,
        "level=Level.WARNING, instead=near)",
        "level=Level.WARNING, instead=value)",
        UNIT + "test_validate_document.py",
    ),
    breaking(
        "only the first fault of a document is told",
        SHAPE,
        "    for key, code in node.required.items():\n        if key not in used:",
        "    for key, code in node.required.items():\n        if key not in used and used:",
        UNIT + "test_validate_document.py",
    ),
    breaking(
        "comments are unknown keys",
        SHAPE,
        'if not key.startswith("_") and item is not None',
        "if item is not None",
        UNIT + "test_validate_targets.py",
    ),
    breaking(
        "a refused value is reported as missing too",
        SHAPE,
        "            used[key] = walk(known, item, (*at, key), emit)",
        "            used |= {key: each for each in [walk(known, item, (*at, key), emit)] if type(each) is not object}",
        UNIT + "test_validate_targets.py",
    ),
    breaking(
        "a cron of six fields passes",
        CRON,
        "    if len(fields) != 5:",
        "    if len(fields) not in (5, 6):",
        UNIT + "test_validate_plans.py",
    ),
    breaking(
        "a cron is only counted",
        CRON,
        "        CronSim(line, datetime(2000, 1, 1, tzinfo=UTC))",
        "        pass",
        UNIT + "test_validate_plans.py",
    ),
    breaking(
        "a cron line that names each minute and hour is refused",
        CRON,
        "LONGEST: Final = 500",
        "LONGEST: Final = 200",
        UNIT + "test_validate_plans.py",
    ),
    breaking(
        "a sweep may end what has waited for a second",
        "pixivflow/slots/stall.py",
        "LEAST_MS: Final = 60_000",
        "LEAST_MS: Final = 1_000",
        UNIT + "test_validate_plans.py",
    ),
    breaking(
        "a target may look again more often than ten times",
        "pixivflow/slots/fallback.py",
        "STAGES_MAX: Final = 10",
        "STAGES_MAX: Final = 11",
        UNIT + "test_validate_document.py",
    ),
    breaking(
        "a scan may try more than a hundred works",
        "pixivflow/slots/fallback.py",
        "SCAN_BOUND_MAX: Final = 100",
        "SCAN_BOUND_MAX: Final = 500",
        "tests/unit/selection/test_planner.py",
    ),
    breaking(
        "an endpoint may hold a user",
        ADDRESSES,
        'and "@" not in parts and',
        "and",
        UNIT + "test_validate_document.py",
    ),
    breaking(
        "an open door needs no lock",
        DOORS,
        "    if all(closed.values()):",
        "    if False:",
        UNIT + "test_validate_plans.py",
    ),
    breaking(
        "a blank token locks a door",
        DOORS,
        "token is not None and not is_blank(token)",
        "token is not None",
        UNIT + "test_validate_plans.py",
    ),
    breaking(
        "routes of a list are not looked up",
        OWED,
        'enumerate(words(delivery.get("targets", [])))]',
        "enumerate([])]",
        UNIT + "test_validate_targets.py",
    ),
    breaking(
        "messages repeat secrets",
        MASK,
        "    hidden = masked(value, tuple(at))\n",
        "    hidden = value\n",
        UNIT + "test_validate_document.py",
    ),
)

LOADING = (
    breaking("deep junk is parsed", DEPTH, "DEPTH: Final = 64", "DEPTH: Final = 10**6", EDGES + "test_document.py"),
    breaking(
        "a key of TOML may have twice as many dots",  # without any bound its parser takes the machine's memory
        DEPTH,
        "DOTS: Final = 256",
        "DOTS: Final = 512",
        EDGES + "test_document.py",
    ),
    breaking(
        "the last of two equal keys is taken",
        DOCUMENT,
        "return plain if len(plain) == len(pairs) else Doubled(pairs)",
        "return plain",
        EDGES + "test_document.py",
    ),
    breaking(
        "an empty variable counts",
        OVERRIDES,
        'if not (text := environ.get(row.name, "")).strip():',
        "if (text := environ.get(row.name)) is None:",
        EDGES + "test_environment.py",
    ),
    breaking(
        "the environment's token beats the file's",
        OVERRIDES,
        'Override("SCHEDULER_TRIGGER_TOKEN", (*TRIGGER, "token"), str.strip, yields=True)',
        'Override("SCHEDULER_TRIGGER_TOKEN", (*TRIGGER, "token"), str.strip)',
        EDGES + "test_environment.py",
    ),
    breaking(
        "the platform's port beats the file's",
        OVERRIDES,
        'Override("PORT", (*TRIGGER, "port"), _port, yields=True)',
        'Override("PORT", (*TRIGGER, "port"), _port)',
        EDGES + "test_environment.py",
    ),
    breaking(
        "a proxy of the environment beats the file's",
        PROXIES,
        'if isinstance(own, dict) and own.get("enabled") not in (False, None):',
        "if False:",
        EDGES + "test_proxies.py",
    ),
    breaking(
        "socks4 is taken for http", PROXIES, 'if parts.scheme == "socks4":', "if False:", EDGES + "test_proxies.py"
    ),
    breaking(
        "paths start from where somebody stands",
        PATHS,
        "        return _single(base, written, key, found)\n",
        "        return _single(Path.cwd(), written, key, found)\n",
        EDGES + "test_paths.py",
    ),
    breaking(
        "a path that could be made is rewritten",
        PATHS,
        "    if not is_usable(written):",
        "    if not written.exists():",
        EDGES + "test_paths.py",
    ),
    breaking(
        "an external clock leaves the trigger off",
        RESOLVE,
        "enabled=runtime.trigger.enabled or external",
        "enabled=runtime.trigger.enabled",
        EDGES + "test_load.py",
    ),
    breaking(
        "the old plan is lost", RESOLVE, '    if "schedules" not in document:', "    if False:", EDGES + "test_load.py"
    ),
    breaking(
        "persistent works are delivered",
        MODEL,
        'return named_routes(self.delivery) if self.storage_mode == "cache" else ()',
        "return named_routes(self.delivery)",
        UNIT + "test_model.py",
    ),
    breaking(
        "a missing variable is empty text",
        REFERENCES,
        "        if not environ.get(name):",
        "        if False:",
        UNIT + "test_references.py",
    ),
    breaking(
        "a secret prints itself",
        MASK,
        "return f\"Secret({MASK if self._text else ''})\"",
        'return f"Secret({self._text})"',
        UNIT + "test_mask.py",
    ),
    breaking(
        "what lies inside of a secret header is shown",
        MASK,
        'keys[keys.index("headers") + 1 :]',
        "keys[-1:]",
        UNIT + "test_mask.py",
    ),
)

RELOADING = (
    breaking(
        "another account comes in force",
        DECIDE,
        'NEEDS_RESTART: Final = ("pixiv", "network",',
        'NEEDS_RESTART: Final = ("network",',
        UNIT + "test_reload.py",
    ),
    breaking(
        "a port that is only bound at the start changes",
        DECIDE,
        '    ("scheduler_runtime", "trigger", "port"),\n',
        "",
        UNIT + "test_reload.py",
    ),
    breaking(
        "generations stand still",
        DECIDE,
        "generation=current.generation + 1",
        "generation=current.generation",
        UNIT + "test_reload.py",
    ),
    breaking(
        "a file is read while it is written",
        WATCHER,
        "while letter is not None and not letter.message.at_once:",
        "while False:",
        UNIT + "test_watcher.py",
    ),
    breaking(
        "a file that never rests is never read",
        WATCHER,
        "with trio.move_on_after(PATIENCE * debounce_ms / 1000):",
        "with trio.CancelScope():",
        UNIT + "test_watcher.py",
    ),
    breaking(
        "a refused snapshot comes in force",
        WATCHER,
        "        case Refuse(keys):\n",
        "        case Refuse(keys):\n            parts.live.put(loaded.settings)\n",
        UNIT + "test_watcher.py",
    ),
    breaking(
        "a folder that cannot be watched ends the actor",
        WATCHER,
        "        except OSError as error:",
        "        except ZeroDivisionError as error:",
        UNIT + "test_watcher.py",
    ),
    breaking(
        "every stir wakes", FOLDER, "            if seen != before:", "            if True:", EDGES + "test_folder.py"
    ),
    breaking(
        "a new file in the old one's place goes unseen",
        FOLDER,
        "return found.st_ino, found.st_size, found.st_mtime_ns",
        "return 0, 0, 0",
        EDGES + "test_folder.py",
    ),
)

LOGGING = (
    breaking(
        "redaction is switched off",
        LOG,
        "{key: self.redactor.field(value, (key,)) for key, value in event.items() if key not in OWN}",
        "{key: value for key, value in event.items() if key not in OWN}",
        OBSERVE + "test_log.py",
    ),
    breaking("known secrets are told", REDACT, "redacted(without(text, self._known))", "redacted(text)", OBSERVE),
    breaking(
        "keys of objects are told as they are",
        REDACT,
        "{self.text(str(key)): self.field",
        "{str(key): self.field",
        OBSERVE + "test_log.py",
    ),
    breaking(
        "a secret's name masks nothing",
        REDACT,
        "if isinstance(value, Secret) or is_secret(at):",
        "if isinstance(value, Secret):",
        OBSERVE,
    ),
    breaking(
        "a header counts as secret whatever its name",
        KNOWN,
        'and ("headers" not in at or is_secret(at))',
        "",
        OBSERVE + "test_known.py",
    ),
    breaking("a terminal is obeyed", LINES, ".translate(_CONTROLS)", "", OBSERVE + "test_log.py"),
    breaking(
        "a field stands for the line",
        LOG,
        'f"{key}_" if key in OWN else key',
        "key",
        OBSERVE + "test_log.py",
    ),
    breaking(
        "rich is loaded with structlog",
        STRUCTURED,
        '    modules["rich"] = None',
        '    modules["poor"] = None',
        OBSERVE + "test_imports.py",
    ),
    breaking(
        "an expected error tells where it happened",
        FAULTS,
        "    return isinstance(error, PixivflowError)",
        "    return False",
        OBSERVE + "test_log.py",
    ),
)

LOUDNESS = (
    breaking(
        "an event has no level of its own",
        LEVELS,
        '    "download.parts_removed": "info",\n',
        "",
        OBSERVE + "test_levels.py",
    ),
    breaking(
        "a level is kept for an event that nobody tells",
        LEVELS,
        '    "actor.cut": "warn",',
        '    "actor.cut": "warn",\n    "actor.gone": "warn",',
        OBSERVE + "test_levels.py",
    ),
    breaking(
        "a target that crashed is told in passing",
        LEVELS,
        '"target.crashed": "error"',
        '"target.crashed": "info"',
        OBSERVE + "test_levels.py",
    ),
    breaking(
        "a value that waits for a restart is told in passing",
        WATCHER,
        "            if waiting:",
        "            if False:",
        UNIT + "test_watcher.py",
    ),
)

ROWS = (*LOUDNESS, *VALIDATION, *LOADING, *RELOADING, *LOGGING)
