# SPDX-License-Identifier: Apache-2.0
"""What patches are for: a release of the index, or a commit of the upstream repository; and upstream's own rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from headwater.commands.context import Context
from headwater.core.errors import BadInput
from headwater.core.mail import read_patch
from headwater.core.pr_evidence import TargetEvidence
from headwater.effects.am import run_am
from headwater.effects.git import GitDir
from headwater.effects.probe import Subject
from headwater.effects.targets import UpstreamFiles
from headwater.effects.upstream_git import Upstream
from headwater.effects.upstream_words import resolve

MAIN, NEWEST = "main", "newest"


@dataclass(frozen=True)
class Target:
    """A target. `word` is how it was named; `commit` has its library in the mirror, `whole` is what `git am` starts
    from: the same for a release, of which the mirror has no more, else the upstream commit. `rules` are upstream's
    files beside the library, None where no repository is at hand. `release` has the very same library, if any has."""

    kind: Literal["release", "commit"]
    word: str
    subject: Subject
    commit: str
    whole: str
    upstream: Upstream | None
    rules: UpstreamFiles | None
    release: Version | None

    @property
    def version(self) -> Version:
        """The release that it is, or the one in whose environment it runs."""
        return self.subject.pin.version


def find_target(context: Context, onto: str | None, repo: str | None) -> Target:
    """The target that `--onto` names: a release, `newest` of them, or with a repository also `main`, a tag, a branch, a
    commit or a date. Without a word it is `main` of the repository, or the newest release.

    Raises:
        BadInput: there is no such revision, or it needs a repository.
    """
    pins = context.workspace.pins
    upstream = context.upstream(repo) if repo is not None else None
    word = onto or (MAIN if upstream else NEWEST)
    if word == NEWEST:
        return _release(context, word, pins.versions[-1], upstream)
    if word == MAIN and upstream is None:
        raise BadInput(
            f"--onto main needs the upstream repository: name a clone or its address by --repo; without one "
            f"--onto {pins.versions[-1]} is the nearest that the index has"
        )
    if word == MAIN and upstream is not None:
        upstream.refresh()
        return _commit(context, word, upstream.main().sha, upstream)
    found = resolve(upstream, word, pins.versions)
    if isinstance(found, Version):
        return _release(context, word, found, upstream)
    assert upstream is not None
    return _commit(context, word, found.sha, upstream)


def recorded_target(context: Context, known: TargetEvidence, repo: str | None) -> Target:
    """The target that evidence was recorded on, whatever its word names by now.

    Raises:
        BadInput: it is a commit and no repository is named, or there is no such revision.
    """
    upstream = context.upstream(repo) if repo is not None else None
    if known.kind == "release":
        version = context.workspace.pins.find(known.revision).version
        return _release(context, known.word, version, upstream, known.rules)
    if upstream is None:
        raise BadInput(
            f"the bundle is for commit {known.revision[:12]}, which no release of the index is: name a clone of the "
            "upstream repository, or its address, by --repo"
        )
    return _commit(context, known.word, _named(upstream, known.revision), upstream)


def _release(
    context: Context, word: str, version: Version, upstream: Upstream | None, rules_at: str | None = None
) -> Target:
    pin = context.workspace.pins.pin(version)
    commit = context.mirror.ensure(pin)
    rules = _rules(upstream, version, rules_at)
    return Target("release", word, context.subjects.release(pin), commit, commit, upstream, rules, version)


def _rules(upstream: Upstream | None, version: Version, commit: str | None) -> UpstreamFiles | None:
    """Upstream's files as a commit has them; without one as they were at a release, by its tag, or as they are now."""
    if upstream is None:
        return None
    if commit is not None:
        return _rules_at(upstream, _named(upstream, commit))
    tag = upstream.refs().get(f"refs/tags/v{version}")
    return _rules_at(upstream, (upstream.commit(tag) if tag is not None else upstream.main()).sha)


def _named(upstream: Upstream, commit: str) -> str:
    """The commit of an id that evidence names.

    Raises:
        BadInput: the repository has none of that id.
    """
    found = resolve(upstream, commit, ())
    assert not isinstance(found, Version)
    return found.sha


def _rules_at(upstream: Upstream, commit: str) -> UpstreamFiles:
    """The files of a commit, each fetched when it is asked for."""

    def read(path: str) -> bytes | None:
        blob = upstream.paths(commit, path).get(path)
        return upstream.files([blob])[blob] if blob is not None else None

    return UpstreamFiles(commit, read)


def _commit(context: Context, word: str, sha: str, upstream: Upstream) -> Target:
    subject = context.commits(upstream).subject(upstream.commit(sha))
    rules = _rules_at(upstream, sha)
    release = context.workspace.pins.release_of_tree(subject.tree)
    return Target("commit", word, subject, context.subjects.commit_of(subject), sha, upstream, rules, release)


def trees_by_am(context: Context, target: Target, patches: Sequence[tuple[str, bytes]]) -> list[tuple[str, str]]:
    """What `git am` makes of patch files on the target: after each the ids of the whole tree and of the library's.

    Raises:
        PatchFailed: git refuses one.
    """
    repositories: list[GitDir] = [context.mirror.git]
    with context.cache.building("am") as folder:
        files = []
        for name, content in patches:
            files.append(folder / name)
            files[-1].write_bytes(content)
        if target.kind == "commit" and target.upstream is not None:
            repositories.append(target.upstream.git)
            target.upstream.bring_beside(target.whole, paths_of(patches))
        return run_am(folder, repositories, target.whole, files, f"src/{context.workspace.pins.package}")


def paths_of(patches: Sequence[tuple[str, bytes]]) -> list[str]:
    """Every path that patch files name."""
    return list(dict.fromkeys(path for name, content in patches for path in read_patch(name, content).paths))
