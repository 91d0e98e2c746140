# SPDX-License-Identifier: Apache-2.0
"""The commit that a hunk of a reduction came from, by `git blame` on the newer side. What cannot be told is noted."""

from __future__ import annotations

import re
from dataclasses import replace

from headwater.commands.hunt.oracle import Oracle
from headwater.commands.hunt.plain import commit_of
from headwater.core.commits import Commit
from headwater.core.errors import BadInput, HarnessError
from headwater.core.reduction_report import KeptHunk, ReductionReport
from headwater.core.revisions import Revision
from headwater.effects.upstream_git import Upstream

_ID = re.compile(r"\b[0-9a-f]{40}\b")
_HEADER = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


def traced(
    oracle: Oracle, upstream: Upstream, report: ReductionReport, older: Revision, newer: Revision
) -> ReductionReport:
    """The report with the commit of each hunk that adds lines, as the history between the ends, or the commits nearest
    to them, has it."""
    try:
        old, new = (commit_of(oracle, upstream, revision) for revision in (older, newer))
    except (BadInput, HarnessError) as error:
        # What was found stays found.
        return replace(report, notes=(*report.notes, f"which commits the hunks came from is not told: {error}"))
    hunks, notes = [], []
    for hunk in report.hunks:
        try:
            hunks.append(replace(hunk, commit=_origin(hunk, oracle, upstream, old, new, newer)))
        except (_Untold, HarnessError) as error:
            hunks.append(hunk)
            notes.append(f"which commit {hunk.file} {hunk.header} came from is not told: {error}")
    return replace(report, hunks=tuple(hunks), notes=(*report.notes, *notes))


class _Untold(Exception):
    """Why no commit can be named."""


def _origin(hunk: KeptHunk, oracle: Oracle, upstream: Upstream, old: Commit, new: Commit, newer: Revision) -> str:
    """The commit of most of a hunk's added lines.

    Raises:
        _Untold: there is none.
    """
    found = _HEADER.match(hunk.header)
    if found is None or found[2] == "0":
        raise _Untold("it adds no line that could be looked up")
    first, count = int(found[1]), int(found[2] or 1)
    inside, path = hunk.file.partition("/")[2], f"src/{hunk.file}"
    blob = oracle.context.mirror.git("rev-parse", f"{oracle.subject(newer).tree}:{inside}")
    if upstream.paths(new.sha, path).get(path) != blob:
        raise _Untold(f"the file is another one in commit {new}, so its lines stand elsewhere")
    said = _blame(upstream, path, f"{first},{first + count - 1}", f"{old.sha}..{new.sha}")
    # What is older than the range is named after its boundary.
    lines = [entry for entry in re.split(r"(?m)^\t.*\n?", said) if entry and "\nboundary\n" not in entry]
    commits = [entry[:40] for entry in lines]
    if not commits:
        raise _Untold(f"its lines are older than {old}")
    return max(sorted(set(commits)), key=commits.count)


def _blame(upstream: Upstream, path: str, lines: str, between: str) -> str:
    """What `git blame` says of some lines. What the file was on the way is fetched at once where it is not here."""
    along = ("--first-parent", "--format=", "--raw", "--no-abbrev", "--no-renames", between, "--", path)
    upstream.files(sorted(set(_ID.findall(upstream.git("log", *along))) - {"0" * 40}))
    return upstream.git("blame", "--line-porcelain", "--first-parent", "-L", lines, between, "--", path)
