"""One look at a whole document that names everything wrong with it at once, each fault by its place.

It works on the plain document, before any typed decoding, so that one fault never hides another. `keys` holds the
tables about single values, `rules` what must hold between them; whoever shows, saves or loads a document asks here.
"""

from collections.abc import Mapping

import msgspec

from pixivflow.config.validate.findings import ConfigInvalid, Finding, Level, Report
from pixivflow.config.validate.keys.document import DOCUMENT
from pixivflow.config.validate.rules.doors import way_in_rules, way_out_rules
from pixivflow.config.validate.rules.downloads import download_rules
from pixivflow.config.validate.rules.owed import owed_rules
from pixivflow.config.validate.rules.plans import plan_rules
from pixivflow.config.validate.rules.routes import route_rules
from pixivflow.config.validate.rules.targets import target_rules
from pixivflow.config.validate.shape import walk

__all__ = ["Checked", "ConfigInvalid", "Finding", "Level", "Report", "validate"]


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A document after the look.

    `used`: the document as it will be used, without comments, nulls and unknown keys, ranges mended where that is a
    warning. It decodes if there is no error.
    """

    used: Mapping[str, object]
    report: Report


def validate(document: object, *, manual_token: bool = False) -> Checked:
    """Look at a document of the newest schema version, after the environment had its say.

    `manual_token`: whether the environment holds a token for manual work and jobs.
    """
    findings: list[Finding] = []
    walked = walk(DOCUMENT, document, (), findings.append)
    used = walked if isinstance(walked, dict) else {}
    for rules in (target_rules, owed_rules, route_rules, plan_rules, download_rules, way_out_rules):
        findings.extend(rules(used))
    findings.extend(way_in_rules(used, manual_token=manual_token))
    return Checked(used=used, report=Report(findings=tuple(findings)))
