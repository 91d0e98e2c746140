# SPDX-License-Identifier: Apache-2.0
"""The commit that a hunk of a reduction came from, by `git blame` on the newer side."""

from __future__ import annotations

import re
from dataclasses import replace

from headwater.commands.hunt.oracle import Oracle
from headwater.commands.hunt.plain import commit_of
from headwater.core.commits import Commit
from headwater.core.hunting import Point
from headwater.core.reducing import KeptHunk, ReductionReport
from headwater.effects.git import GitFailed
from headwater.effects.upstream_git import Upstream

_HEADER = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


def traced(oracle: Oracle, upstream: Upstream, report: ReductionReport, older: Point, newer: Point) -> ReductionReport:
    """The report with the commit of each hunk that adds lines, as the history between the ends, or the commits nearest
    to them, has it. A hunk that only deletes has no line that could be asked."""
    old, new = (commit_of(oracle, upstream, point) for point in (older, newer))
    hunks = tuple(replace(hunk, commit=_origin(hunk, upstream, old, new)) for hunk in report.hunks)
    return replace(report, hunks=hunks)


def _origin(hunk: KeptHunk, upstream: Upstream, old: Commit, new: Commit) -> str | None:
    found = _HEADER.match(hunk.header)
    count = int(found[2]) if found and found[2] is not None else 1
    if found is None or count == 0:
        return None
    first = int(found[1])
    where = ("-L", f"{first},{first + count - 1}", f"{old.sha}..{new.sha}", "--", f"src/{hunk.file}")
    try:
        said = upstream.git("blame", "--porcelain", "--first-parent", *where)
    except GitFailed:
        # The release's file is not the commit's: they are nearest, not equal.
        return None
    commits = re.findall(r"(?m)^([0-9a-f]{40}) \d+ \d+", said)
    return max(set(commits), key=commits.count) if commits and old.sha not in commits else None
