"""What a new snapshot may change while the process runs."""

from typing import Final, TypeVar

import msgspec

from pixivflow.config.model import Settings

NEEDS_RESTART: Final = ("pixiv", "network", "storage", "token_maintenance")
"""Parts that everything open was built from: two of them in one process would mix accounts, ways out or folders."""

AT_START: Final = (
    ("schema_version",),
    ("download", "asset_namespace"),
    ("scheduler_runtime", "mode"),
    ("scheduler_runtime", "catch_up_missed_runs"),
    ("scheduler_runtime", "watch_config"),
    ("scheduler_runtime", "reload_debounce_ms"),
    ("scheduler_runtime", "exit_when_idle"),
    ("scheduler_runtime", "idle_grace_ms"),
    ("scheduler_runtime", "max_lifetime_ms"),
    ("scheduler_runtime", "trigger", "enabled"),
    ("scheduler_runtime", "trigger", "host"),
    ("scheduler_runtime", "trigger", "port"),
    ("scheduler_runtime", "trigger", "token"),
)
"""Values that are read when the process starts. A new one is accepted and waits for the next start."""


S = TypeVar("S", bound=msgspec.Struct)


class Keep(msgspec.Struct, frozen=True):
    """Nothing that counts has changed."""


class Refuse(msgspec.Struct, frozen=True):
    """The whole new snapshot waits for a restart. `keys`: those that need one, as the file spells them."""

    keys: tuple[str, ...]


class Replace(msgspec.Struct, frozen=True):
    """`settings` come in force, one generation later. `waiting`: keys whose new value waits for the next start."""

    settings: Settings
    waiting: tuple[str, ...] = ()


Reload = Keep | Refuse | Replace


def decide(current: Settings, candidate: Settings) -> Reload:
    """What becomes of a valid new snapshot beside the one in force; the candidate's generation does not matter."""
    if keys := tuple(key for part in NEEDS_RESTART for key in _changed(current, candidate, part)):
        return Refuse(keys)
    merged, waiting = candidate, []
    for path in AT_START:
        if at(candidate, path) != at(current, path):
            waiting.append(spelled(candidate, path))
            merged = _with(merged, path, at(current, path))
    merged = msgspec.structs.replace(merged, generation=current.generation, manual_token=current.manual_token)
    if merged == current and not waiting:
        return Keep()
    return Replace(msgspec.structs.replace(merged, generation=current.generation + 1), tuple(waiting))


def _changed(current: Settings, candidate: Settings, *path: str) -> list[str]:
    """The keys below `path` whose values differ."""
    old, new = at(current, path), at(candidate, path)
    if not isinstance(old, msgspec.Struct) or type(old) is not type(new):
        return [] if old == new else [spelled(current, path)]
    return [key for name in old.__struct_fields__ for key in _changed(current, candidate, *path, name)]


def at(part: object, path: tuple[str, ...]) -> object:
    """The value at `path` below `part`."""
    for name in path:
        part = getattr(part, name)
    return part


def _with(part: S, path: tuple[str, ...], value: object) -> S:
    name, *rest = path
    inner = _with(getattr(part, name), tuple(rest), value) if rest else value
    return msgspec.structs.replace(part, **{name: inner})


def spelled(part: msgspec.Struct, path: tuple[str, ...]) -> str:
    """How the file spells a key: `storage.downloadDirectory` for `storage`, `download_directory`."""
    words = []
    for name in path:
        fields = {field.name: field.encode_name for field in msgspec.structs.fields(part)}
        words.append(fields[name])
        part = getattr(part, name)
    return ".".join(words)
