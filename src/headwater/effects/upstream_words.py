# SPDX-License-Identifier: Apache-2.0
"""From the words by which people name a revision to the revision: releases, tags, commits, dates, branches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from packaging.version import InvalidVersion, Version

from headwater.core.commits import LOG_FORMAT, Commit, parse_date, read_log
from headwater.core.errors import BadInput
from headwater.core.naming import nearest_names
from headwater.core.releases import nearest
from headwater.effects.git import GitFailed, lines_of
from headwater.effects.upstream_git import Upstream

_SHA = re.compile(r"[0-9a-fA-F]{4,40}")
_SUFFIX = re.compile(r"(?P<name>.+?)(?P<steps>(?:[~^]\d*)*)")
_PLACES = ("refs/tags/", "refs/heads/")
_REMOTES = ("refs/remotes/", "refs/remotes/upstream/", "refs/remotes/origin/")


def resolve(upstream: Upstream | None, word: str, releases: Sequence[Version]) -> Version | Commit:
    """The revision that `word` names: a pinned release (5.10.1); a tag (v5.10.1), a branch, a commit by its id (whole
    or abbreviated), these three also with git's `~2` and `^`; or a day or time (2026-04-01: the last commit of the main
    line before it). Without an upstream repository only releases can be named.

    Raises:
        BadInput: there is no such revision, or several; the message names the nearest, or all.
    """
    version = _version(word, releases)
    if version is not None and version in releases and not word.startswith("v"):
        return version
    date = parse_date(word)
    if upstream is None:
        raise BadInput(
            f"{word!r} is no pinned release{_nearest_words(word, version, releases, ())}; for commits, tags, dates "
            "and branches name a repository by --repo"
        )
    found = _before(upstream, date) if date else _named(upstream, word)
    if found is None and upstream.refresh():
        found = _named(upstream, word)
    if found is None:
        names = [name.removeprefix(place) for name in upstream.refs() for place in _PLACES if name.startswith(place)]
        raise BadInput(
            f"{upstream.name} has no release, tag, branch, commit or date {word!r}"
            f"{_nearest_words(word, version, releases, names)}"
        )
    return found


def _version(word: str, releases: Sequence[Version]) -> Version | None:
    """The version that `word` writes, as it is pinned where it is (5.4 is 5.4.0)."""
    try:
        version = Version(word)
    except InvalidVersion:
        return None
    return next((release for release in releases if release == version), version)


def _nearest_words(word: str, version: Version | None, releases: Sequence[Version], names: Sequence[str]) -> str:
    versions = [str(v) for v in nearest(version, releases)] if version and version not in releases else []
    versions = [str(version)] if version in releases else versions
    near = [*versions, *nearest_names(word, names)]
    return f"; the nearest are {', '.join(near)}" if near else ""


def _before(upstream: Upstream, date: datetime) -> Commit:
    """The last commit of the main line before a time. The committer's dates are no order, so this is the first such
    commit on the way back from the newest."""
    tip = upstream.main()
    if tip.date < date and upstream.refresh():
        tip = upstream.main()
    # git takes the second itself for before; "before" is the second before it.
    limit = int(date.timestamp()) - 1
    log = upstream.git(
        "log", "-1", "--first-parent", "-z", f"--format={LOG_FORMAT}", f"--before=@{limit}", tip.sha
    )  # fmt: skip
    if found := read_log(log):
        return found[0]
    raise BadInput(f"{upstream.name} has no commit before {date:%Y-%m-%d %H:%M}; its main line begins later")


def _named(upstream: Upstream, word: str) -> Commit | None:
    parts = _SUFFIX.fullmatch(word)
    if parts is None:
        return None
    sha = _by_ref(upstream, parts["name"]) or _by_id(upstream, parts["name"])
    if sha is None:
        return None
    try:
        return upstream.commit(upstream.git("rev-parse", "--verify", "--quiet", f"{sha}{parts['steps']}^{{commit}}"))
    except GitFailed as error:
        raise BadInput(f"{word!r} names no commit in the history of {upstream.name}") from error


def _by_ref(upstream: Upstream, name: str) -> str | None:
    """What a tag or a branch names. A branch moves, so it is looked for anew, once a run."""
    refs = upstream.refs()
    places = [place + name for place in _PLACES if place + name in refs]
    if len(places) > 1 and len({refs[place] for place in places}) > 1:
        raise BadInput(f"{name!r} is a tag and a branch of {upstream.name}; write {' or '.join(places)}")
    places += [place for place in (name, *(remote + name for remote in _REMOTES)) if place in refs]
    if not places:
        return None
    if not places[0].startswith("refs/tags/") and upstream.refresh():
        refs = upstream.refs()
    return refs.get(places[0])


def _by_id(upstream: Upstream, name: str) -> str | None:
    """The commit whose id begins with `name`."""
    if not _SHA.fullmatch(name):
        return None
    listed = upstream.git("rev-parse", f"--disambiguate={name.lower()}").split()
    with lines_of(listed) as names:
        answer = upstream.git("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=names)
    commits = [line.split()[0] for line in answer.splitlines() if line.endswith(" commit")]
    if len(commits) > 1:
        shown = "; ".join(str(upstream.commit(sha)) for sha in commits[:5])
        raise BadInput(f"{name!r} is the beginning of {len(commits)} commits: {shown}; write more of it")
    return commits[0] if commits else None
