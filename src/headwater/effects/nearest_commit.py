# SPDX-License-Identifier: Apache-2.0
"""The commit of the main line whose files are nearest to a release's, where the pins do not name it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

from headwater.core.commits import LOG_FORMAT, Commit, read_log
from headwater.core.errors import BadInput
from headwater.core.events import Emit, Finished, Started, silent
from headwater.core.pins import Pin
from headwater.effects.git import GitFailed, lines_of
from headwater.effects.mirror import Mirror
from headwater.effects.upstream_git import Upstream

# A release is cut from the main line days before it is uploaded; a maintenance release weeks after its branch began.
_BEFORE, _AFTER = timedelta(days=60), timedelta(days=1)
_AT_MOST = 1500


@dataclass(frozen=True)
class Nearest:
    """A commit, and in how many Python files of the library it differs from the release; None where the pins name the
    commit and no number. A wheel lacks what upstream does not ship (some 308 scripts), so the number is hardly 0."""

    commit: Commit
    differing_files: int | None


def nearest_commit(upstream: Upstream, mirror: Mirror, pin: Pin, package: str, emit: Emit = silent) -> Nearest:
    """The nearest commit of a release: the pinned one where the repository has it; else the release's tree is compared
    with those of the main line from 60 days before its upload on, and of several as near the oldest is taken.

    Raises:
        BadInput: the main line has no commit of that time.
    """
    if pin.nearest_commit is not None:
        try:
            return Nearest(upstream.commit(pin.nearest_commit), pin.differing_files)
        except GitFailed:
            pass  # Not in this repository, e.g. one that is cut off: the nearest that it has is looked for.
    commits = _around(upstream, pin)
    if not commits:
        raise BadInput(f"{upstream.name} has no commit of the main line around {pin.uploaded:%Y-%m-%d} ({pin.version})")
    what = f"looking for the commit nearest to {pin.version} among {len(commits)}"
    emit(Started(what, what))
    try:
        tree = mirror.library_tree(mirror.ensure(pin))
        counts = _differences(upstream, mirror, tree, [f"{commit.sha}:src/{package}" for commit in commits])
        best = min(range(len(commits)), key=lambda n: (counts[n], -n))
        return Nearest(commits[best], counts[best])
    finally:
        emit(Finished(what))


def _around(upstream: Upstream, pin: Pin) -> list[Commit]:
    """The main line around a release's upload, newest first."""
    log = upstream.git(
        "log", "--first-parent", "-z", f"--format={LOG_FORMAT}", f"--max-count={_AT_MOST}",
        f"--since=@{int((pin.uploaded - _BEFORE).timestamp())}", f"--until=@{int((pin.uploaded + _AFTER).timestamp())}",
        upstream.main().sha,
    )  # fmt: skip
    return read_log(log)


def _differences(upstream: Upstream, mirror: Mirror, tree: str, others: list[str]) -> list[int]:
    """In how many files `tree`, which the mirror holds, differs from each of the others, which the upstream repository
    does: one git process, which reads folders and no file."""
    with lines_of(others) as names:
        found = upstream.git("cat-file", "--batch-check=%(objectname)", stdin=names).splitlines()
    environ = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(mirror.git.path / "objects")}
    pairs = [f"{tree} {other}" for other in dict.fromkeys(found) if len(other) == len(tree) and other != tree]
    with lines_of(pairs) as names:
        said = upstream.git("diff-tree", "--stdin", "-r", "--no-renames", "--raw", stdin=names, environ=environ)
    counts: Counter[str] = Counter()
    at = tree
    for line in said.splitlines():
        if line.startswith(":"):
            # A wheel has lost the mode bits and what is no Python (shell scripts, notes): only sources are compared.
            _old_mode, _new_mode, old, new, path = line.split(maxsplit=4)
            counts[at] += old != new and path.endswith(".py")
        else:
            at = line.split()[1]
    beyond = max(counts.values(), default=0) + 1
    return [counts[other] if other in counts or other == tree else beyond for other in found]
