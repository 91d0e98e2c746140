# SPDX-License-Identifier: Apache-2.0
"""From words to revisions: releases, tags, branches, commits, dates; or a refusal with the nearest."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version
from upstream_repo import UpstreamRepo

from headwater.core.commits import Commit
from headwater.core.errors import BadInput
from headwater.effects.upstream_git import Upstream, open_upstream
from headwater.effects.upstream_words import resolve
from headwater.effects.workspace import Cache

Git = Callable[..., str]
RELEASES = [Version(text) for text in ("5.3.0", "5.4.0", "5.5.0", "5.5.1", "5.6.0")]


@pytest.fixture(params=["clone", "remote"])
def upstream(request: pytest.FixtureRequest, repo: UpstreamRepo, cache: Cache) -> Upstream:
    return open_upstream(cache, repo.url if request.param == "remote" else str(repo.path))


def named(upstream: Upstream, repo: UpstreamRepo, word: str) -> str:
    found = resolve(upstream, word, RELEASES)
    assert isinstance(found, Commit)
    assert found == upstream.commit(found.sha)
    return {sha: name for name, sha in repo.commits.items()}[found.sha]


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("v5.4.0", "tagged"),
        ("refs/tags/v5.4.0", "tagged"),
        ("v5.4.0~1", "early"),
        ("v5.4.0^", "early"),
        ("main", "dev"),
        ("refs/heads/main", "dev"),
        ("HEAD", "dev"),
        ("main~3^2", "side"),
        ("main~3^", "one"),
        ("main^^^^", "one"),
        ("feature", "feature"),
        # The committer's dates are out of order: `early` stands behind `merge`, and is dated before it.
        ("2026-03-02", "root"),
        ("2026-03-02T12:00:00", "root"),
        ("2026-03-02T12:00:01", "one"),
        ("2026-03-02T13:00:01+01:00", "one"),
        ("2026-03-03", "early"),
        ("2026-03-06", "early"),
        ("2026-03-07", "tagged"),
        ("2026-12-31", "dev"),
    ],
)
def test_words(upstream: Upstream, repo: UpstreamRepo, word: str, name: str) -> None:
    assert named(upstream, repo, word) == name


def test_ids(upstream: Upstream, repo: UpstreamRepo) -> None:
    for name, sha in repo.commits.items():
        assert named(upstream, repo, sha) == name
        assert named(upstream, repo, sha[:10]) == name
        assert named(upstream, repo, sha[:12].upper()) == name
    assert named(upstream, repo, repo.commits["dev"][:9] + "~1") == "tagged"


def test_releases_come_first(upstream: Upstream) -> None:
    assert resolve(upstream, "5.4.0", RELEASES) == Version("5.4.0")
    assert resolve(None, "5.4.0", RELEASES) == Version("5.4.0")
    assert str(resolve(upstream, "5.4", RELEASES)) == "5.4.0"


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("5.4.7", "the nearest are 5.3.0, 5.4.0, 5.5.0, v5.4.0"),
        ("v5.6.0", "the nearest are 5.6.0, v5.4.0"),
        ("v5.4", "5.4.0, v5.4.0"),
        ("mian", "the nearest are main"),
        ("featrue", "the nearest are feature"),
        ("qqq", "'qqq'$"),
        ("", "''$"),
        ("--all", "'--all'"),
        ("-1", "'-1'"),
        ("main:setup.py", "'main:setup.py'"),
        ("dead", "'dead'"),
        ("0" * 40, "'0{40}'"),
        ("main..feature", "main"),
        ("~1", "'~1'"),
    ],
)
def test_what_is_not_there_is_refused_with_the_nearest(upstream: Upstream, word: str, near: str) -> None:
    with pytest.raises(BadInput, match=rf"has no release, tag, branch, commit or date .*{near}"):
        resolve(upstream, word, RELEASES)


@pytest.mark.parametrize("word", ["main~99", "main^3", "refs/tags/v5.4.0~50"])
def test_beyond_the_history(upstream: Upstream, word: str) -> None:
    with pytest.raises(BadInput, match=rf"'{word.replace('^', '.')}' names no commit"):
        resolve(upstream, word, RELEASES)


def test_before_the_first_commit(upstream: Upstream) -> None:
    with pytest.raises(BadInput, match="no commit before 2026-03-01 12:00"):
        resolve(upstream, "2026-03-01T12:00", RELEASES)


def test_without_a_repository(repo: UpstreamRepo) -> None:
    for word in ("main", "v5.4.0", "2026-03-02", repo.commits["dev"], "5.4.7"):
        with pytest.raises(BadInput, match=rf"'{word}' is no pinned release.*--repo"):
            resolve(None, word, RELEASES)


def test_a_tree_or_a_file_is_no_commit(upstream: Upstream, repo: UpstreamRepo, git: Git) -> None:
    for name in (f"{repo.commits['dev']}:src", f"{repo.commits['dev']}:setup.py"):
        with pytest.raises(BadInput, match="has no"):
            resolve(upstream, git(repo.path, "rev-parse", name), RELEASES)


def test_a_tag_and_a_branch_of_one_name(upstream: Upstream, repo: UpstreamRepo, git: Git) -> None:
    git(repo.path, "tag", "feature", repo.commits["root"])
    with pytest.raises(BadInput, match=r"'feature' is a tag and a branch .* refs/tags/feature or refs/heads/feature"):
        resolve(upstream, "feature", RELEASES)
    assert named(upstream, repo, "refs/heads/feature") == "feature"
    assert named(upstream, repo, "refs/tags/feature") == "root"


def test_a_tag_and_a_branch_of_one_name_and_commit(upstream: Upstream, repo: UpstreamRepo, git: Git) -> None:
    git(repo.path, "tag", "feature", repo.commits["feature"])
    assert named(upstream, repo, "feature") == "feature"


def test_what_is_newer_than_the_clone_is_looked_for(repo: UpstreamRepo, git: Git, cache: Cache) -> None:
    assert named(open_upstream(cache, repo.url), repo, "main") == "dev"
    when = "2026-04-01T12:00:00+0000"
    git(repo.path, "commit", "--quiet", "--allow-empty", "-m", "Newer (#15)", GIT_COMMITTER_DATE=when)
    git(repo.path, "tag", "v5.6.0")
    for word in ("main", "v5.6.0", "2026-04-02", git(repo.path, "rev-parse", "HEAD")[:10]):
        clone = open_upstream(Cache(cache.root.parent / word, "transformers"), repo.url)
        git(repo.path, "reset", "--quiet", "--soft", "HEAD~1")
        git(repo.path, "tag", "-d", "v5.6.0")
        assert clone.main().sha == repo.commits["dev"]
        git(repo.path, "reset", "--quiet", "--soft", "HEAD@{1}")
        git(repo.path, "tag", "v5.6.0")
        found = resolve(open_upstream(Cache(cache.root.parent / word, "transformers"), repo.url), word, RELEASES)
        assert isinstance(found, Commit) and found.pull == 15
        offline = open_upstream(cache, repo.url, offline=True)
        assert offline.main().sha == repo.commits["dev"]


def test_an_ambiguous_beginning_names_all(git: Git, cache: Cache, tmp_path: Path) -> None:
    """Of 1,500 commits some begin alike in four digits; their ids are the same on every machine."""
    (tmp_path / "many").mkdir()
    git(tmp_path / "many", "init", "--quiet")
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@invalid.example> {1_700_000_000 + n} +0000\ndata 2\nc\n\n"
        for n in range(1500)
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=tmp_path / "many", input=stream.encode(), check=True)
    ids = git(tmp_path / "many", "rev-list", "main").split()
    counts = Counter(sha[:4] for sha in ids)
    alike = next(beginning for beginning, count in counts.items() if count == 2)
    pair = [sha for sha in ids if sha.startswith(alike)]
    upstream = open_upstream(cache, str(tmp_path / "many"))
    with pytest.raises(BadInput, match=f"'{alike}' is the beginning of 2 commits: .*write more") as caught:
        resolve(upstream, alike, RELEASES)
    assert all(sha[:12] in str(caught.value) for sha in pair)
    assert resolve(upstream, pair[0][:12], RELEASES) == upstream.commit(pair[0])
