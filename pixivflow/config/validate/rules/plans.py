"""What must hold between plans, targets and the way this process schedules."""

from collections.abc import Iterator

from pixivflow.config.mask import shown
from pixivflow.config.validate.findings import Finding
from pixivflow.config.validate.nearest import nearest
from pixivflow.config.validate.rules.reading import Document, error, members, section, warning, words
from pixivflow.config.validate.shape import Place


def plan_rules(document: Document) -> Iterator[Finding]:
    """Every rule about plans."""
    seen: set[object] = set()
    known = {name for _, target in members(document, "targets") if isinstance(name := target.get("id"), str)}
    for at, plan in members(document, "schedules"):
        yield from _unique(at, plan, seen)
        if plan.get("enabled") is True and "cron" not in plan:
            yield error("CRON_REQUIRED", (*at, "cron"), "is required where a plan is enabled")
        yield from _targets(at, plan, known)
    yield from _legacy(document)
    yield from _leaving(document)


def _unique(at: Place, plan: Document, seen: set[object]) -> Iterator[Finding]:
    name = plan.get("id")
    if isinstance(name, str) and name in seen:
        yield error("SCHEDULE_ID_INVALID", (*at, "id"), f"another plan is called {shown((), name)}")
    seen.add(name)


def _targets(at: Place, plan: Document, known: set[str]) -> Iterator[Finding]:
    for position, name in enumerate(words(plan.get("targetIds", []))):
        if name not in known:
            hint = f"no target is called {shown((), name)}" + nearest(name, known)
            yield error("SCHEDULE_TARGET_UNKNOWN", (*at, "targetIds", position), hint)


def _legacy(document: Document) -> Iterator[Finding]:
    if "schedules" in document and section(document, "scheduler").get("enabled") is True:
        yield warning("LEGACY_SCHEDULER_IGNORED", ("scheduler",), "is not read where schedules stand")


def _leaving(document: Document) -> Iterator[Finding]:
    runtime = section(document, "schedulerRuntime")
    if runtime.get("exitWhenIdle") is True and runtime.get("mode", "internal") == "internal":
        at = ("schedulerRuntime", "exitWhenIdle")
        yield warning("EXIT_WHEN_IDLE_IGNORED", at, "is ignored in the mode internal: nobody would wake the process")
