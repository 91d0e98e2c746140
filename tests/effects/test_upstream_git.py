# SPDX-License-Identifier: Apache-2.0
"""The upstream repository: the same history from a remote and from a clone, which stays as it was."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest
from upstream_repo import UpstreamRepo

from headwater.core.errors import BadInput, HarnessError, NotCached
from headwater.core.events import Event, Finished, Note, Started
from headwater.effects.upstream_git import Upstream, open_upstream
from headwater.effects.upstream_sources import ask_head
from headwater.effects.workspace import Cache

Git = Callable[..., str]
CLONE = """
import sys
from pathlib import Path
from headwater.effects.upstream_git import open_upstream
from headwater.effects.workspace import Cache
sys.stdin.read()
print(open_upstream(Cache(Path(sys.argv[1]), "transformers"), sys.argv[2]).main().sha)
"""


def location(git: Git, repo: UpstreamRepo, kind: str, tmp_path: Path) -> str:
    """The repository as one of several things that people name."""
    if kind == "work tree":
        git(repo.path, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), repo.commits["root"])
        return str(tmp_path / "tree")
    if kind in ("bare", "borrowing"):
        how = ["--mirror"] if kind == "bare" else ["--mirror", "--shared"]
        git(tmp_path, "clone", "--quiet", *how, str(repo.path), "copy.git")
        return str(tmp_path / "copy.git")
    return repo.url if kind == "remote" else str(repo.path)


@pytest.fixture(params=["clone", "work tree", "bare", "borrowing", "remote"])
def upstream(
    request: pytest.FixtureRequest, git: Git, repo: UpstreamRepo, tmp_path: Path, cache: Cache, events: list[Event]
) -> Upstream:
    return open_upstream(cache, location(git, repo, request.param, tmp_path), events.append)


def line(upstream: Upstream, repo: UpstreamRepo, old: str, new: str) -> list[str]:
    names = {sha: name for name, sha in repo.commits.items()}
    found = upstream.first_parent(upstream.commit(repo.commits[old]), upstream.commit(repo.commits[new]))
    return [names[commit.sha] for commit in found]


@pytest.mark.parametrize("kind", ["clone", "work tree", "bare", "remote"])
def test_head_is_asked_and_nothing_is_kept(
    git: Git, repo: UpstreamRepo, tmp_path: Path, cache: Cache, kind: str
) -> None:
    assert ask_head(location(git, repo, kind, tmp_path)) in repo.commits.values()
    assert not cache.remotes.exists()


def test_what_does_not_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="nothing here"):
        ask_head(str(tmp_path / "nothing here"))
    with pytest.raises(BadInput, match="remote helper"):
        ask_head("ext::anything")


def test_the_first_parent_line(upstream: Upstream, repo: UpstreamRepo) -> None:
    assert line(upstream, repo, "root", "dev") == ["root", "one", "merge", "early", "tagged", "dev"]
    assert line(upstream, repo, "one", "feature") == ["one", "feature"]
    assert line(upstream, repo, "one", "side") == ["one", "side"]
    assert line(upstream, repo, "dev", "dev") == ["dev"]
    assert upstream.main().sha == repo.commits["dev"]


def test_commits_say_what_they_are(upstream: Upstream, repo: UpstreamRepo) -> None:
    commits = upstream.first_parent(upstream.commit(repo.commits["root"]), upstream.main())
    assert [commit.pull for commit in commits] == [None, 11, 12, 13, 14, None]
    assert [f"{commit.date:%m-%d %H}" for commit in commits][1:4] == ["03-02 12", "03-04 12", "03-02 18"]
    assert str(commits[1]) == f"{repo.commits['one'][:12]} (2026-03-02, One thing (#11))"
    assert [commit.parent for commit in commits[1:]] == [commit.sha for commit in commits[:-1]]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("dev", "root", r"comes after \S+; give the older commit first"),
        ("merge", "side", "comes after"),
        (
            "side",
            "dev",
            r"\(2026-03-03, On the side\) is not on .* leaves it at {one} \(.*One thing.* use {one} instead",
        ),
        ("feature", "dev", "leaves it at {one}"),
        ("unrelated", "dev", "have no history in common"),
        ("dev", "unrelated", "have no history in common"),
    ],
)
def test_what_is_no_first_parent_ancestor_is_refused(
    repo: UpstreamRepo, cache: Cache, old: str, new: str, words: str
) -> None:
    with pytest.raises(BadInput) as caught:
        line(open_upstream(cache, str(repo.path)), repo, old, new)
    assert re.search(words.replace("{one}", repo.commits["one"][:12]), str(caught.value))


def test_files_and_packs(upstream: Upstream, repo: UpstreamRepo, git: Git, tmp_path: Path) -> None:
    commit = repo.commits["tagged"]
    ids = upstream.paths(commit, "src/transformers", "src/transformers/cache.py", "setup.py", "missing.py")
    assert sorted(ids) == ["setup.py", "src/transformers", "src/transformers/cache.py"]
    assert upstream.files([ids["src/transformers/cache.py"]] * 2) == {ids["src/transformers/cache.py"]: b"x = 3\n"}
    objects = upstream.objects_of(ids["src/transformers"])
    assert sorted(objects) == sorted(
        git(repo.path, "rev-list", "--objects", "--no-object-names", ids["src/transformers"]).split()
    )
    pack = tmp_path / "a.pack"
    pack.write_bytes(upstream.pack(objects))
    git(tmp_path, "index-pack", str(pack))
    assert {line.split()[0] for line in git(tmp_path, "verify-pack", "-v", str(pack)).splitlines()} >= set(objects)


def snapshot(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file below a folder with its time of change and content."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(p): (p.stat().st_mtime_ns, hashlib.sha256(p.read_bytes()).hexdigest()) for p in files}


@pytest.mark.parametrize("kind", ["clone", "work tree", "remote"])
def test_the_users_repository_is_never_written_to(
    repo: UpstreamRepo, git: Git, cache: Cache, tmp_path: Path, kind: str
) -> None:
    for name in ("reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor"):
        hook = repo.path / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'hook-ran'}\n")
        hook.chmod(0o755)
    git(repo.path, "config", "core.fsmonitor", str(repo.path / ".git/hooks/fsmonitor"))
    (repo.path / "setup.py").write_text("edited, not committed\n")
    place = location(git, repo, kind, tmp_path)
    (tmp_path / "hook-ran").unlink(missing_ok=True)
    before = snapshot(repo.path)
    upstream = open_upstream(cache, place)
    tree = upstream.paths(upstream.main().sha, "src/transformers")["src/transformers"]
    upstream.pack(upstream.objects_of(tree))
    upstream.refresh()
    line(upstream, repo, "root", "dev")
    assert snapshot(repo.path) == before
    assert not (tmp_path / "hook-ran").exists()


def fetches(events: list[Event]) -> list[str]:
    started = [event for event in events if isinstance(event, Started)]
    assert [event.key for event in events if isinstance(event, Finished)] == [event.key for event in started]
    return [event.what.partition(" file://")[0] for event in started]


def warnings(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Note) and event.warning]


def test_a_remote_is_cloned_without_files_and_they_come_all_at_once(
    repo: UpstreamRepo, cache: Cache, events: list[Event]
) -> None:
    upstream = open_upstream(cache, repo.url, events.append)
    assert fetches(events) == []
    head = upstream.main()
    listed = upstream.git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    assert sorted(set(listed)) == ["commit", "tag", "tree"]
    objects = upstream.objects_of(upstream.paths(head.sha, "src/transformers")["src/transformers"])
    upstream.pack(objects)
    upstream.pack(objects)
    assert fetches(events) == ["cloning the history of", "fetching 3 files from"]
    assert warnings(events) == []
    again = open_upstream(cache, repo.url, events.append)
    assert again.pack(objects) == upstream.pack(objects)
    assert len(fetches(events)) == 2


def test_a_server_that_sends_everything_is_named(
    repo: UpstreamRepo, git: Git, cache: Cache, events: list[Event]
) -> None:
    git(repo.path, "config", "uploadpack.allowFilter", "false")
    upstream = open_upstream(cache, repo.url, events.append)
    upstream.pack(upstream.objects_of(f"{upstream.main().sha}^{{tree}}"))
    assert fetches(events) == ["cloning the history of"]
    [warning] = warnings(events)
    assert re.search(f"{repo.url} does not know partial clones: it sent every file.*uploadpack.allowFilter", warning)


def test_git_never_fetches_by_itself(repo: UpstreamRepo, cache: Cache) -> None:
    upstream = open_upstream(cache, repo.url)
    blob = upstream.paths(upstream.main().sha, "setup.py")["setup.py"]
    assert "remote" not in (upstream.git.path / "config").read_text(encoding="utf-8")
    with pytest.raises(HarnessError):
        upstream.git("cat-file", "blob", blob)
    assert upstream.files([blob])[blob].startswith(b"\nfrom setuptools")


def test_offline(repo: UpstreamRepo, cache: Cache, events: list[Event]) -> None:
    with pytest.raises(NotCached, match=f"{repo.url} was never cloned.*--offline"):
        open_upstream(cache, repo.url, offline=True).main()
    online = open_upstream(cache, repo.url)
    ids = online.paths(online.main().sha, "setup.py", "README.md")
    online.files([ids["setup.py"]])
    offline = open_upstream(cache, repo.url, events.append, offline=True)
    assert offline.main() == online.main()
    assert offline.files([ids["setup.py"]]) == online.files([ids["setup.py"]])
    assert offline.refresh() is False
    with pytest.raises(NotCached, match=r"1 files of .* never fetched"):
        offline.files([ids["README.md"]])
    assert events == []
    assert open_upstream(cache, str(repo.path), offline=True).files([ids["README.md"]])


def test_new_commits_are_seen_once_a_run(repo: UpstreamRepo, git: Git, cache: Cache) -> None:
    first = open_upstream(cache, repo.url)
    assert first.main().sha == repo.commits["dev"]
    assert first.refresh() is False
    git(repo.path, "commit", "--quiet", "--allow-empty", "-m", "Newer (#15)")
    git(repo.path, "branch", "-D", "feature")
    later = open_upstream(cache, repo.url)
    assert later.main().sha == repo.commits["dev"]
    assert later.refresh() is True
    assert later.main().pull == 15
    assert "refs/heads/feature" not in later.refs()
    assert later.refresh() is False
    assert open_upstream(cache, str(repo.path)).main().pull == 15


@pytest.mark.parametrize("default", ["trunk", "main"])
def test_the_remotes_main_line(repo: UpstreamRepo, git: Git, cache: Cache, default: str) -> None:
    git(repo.path, "branch", "-m", "main", default)
    for where in (repo.url, str(repo.path)):
        assert open_upstream(cache, where).main().sha == repo.commits["dev"]


def test_a_persons_clone_of_a_fork(repo: UpstreamRepo, git: Git, cache: Cache, tmp_path: Path) -> None:
    """Upstream's main is the main line, not the fork's, and not what is checked out."""
    git(tmp_path, "clone", "--quiet", str(repo.path), "mine")
    mine = tmp_path / "mine"
    git(mine, "remote", "add", "upstream", str(repo.path))
    git(mine, "fetch", "--quiet", "upstream")
    git(mine, "checkout", "--quiet", "-b", "work")
    git(mine, "commit", "--quiet", "--allow-empty", "-m", "Mine")
    git(mine, "branch", "-f", "main", "work")
    git(mine, "update-ref", "refs/remotes/origin/main", "work")
    assert open_upstream(cache, str(mine)).main().sha == repo.commits["dev"]


def test_the_users_settings_count_for_a_remote_and_its_hooks_do_not(
    repo: UpstreamRepo, cache: Cache, events: list[Event], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = tmp_path / "hooks" / "reference-transaction"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'hook-ran'}\n")
    hook.chmod(0o755)
    settings = tmp_path / "settings"
    settings.write_text(
        f'[url "{repo.url}"]\n\tinsteadOf = https://upstream.invalid/it\n[core]\n\thooksPath = {hook.parent}\n'
        '[remote "origin"]\n\turl = /nowhere\n[fetch]\n\tprune = false\n[url "/nowhere"]\n\tinsteadOf = file://\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    upstream = open_upstream(cache, "https://upstream.invalid/it", events.append)
    assert upstream.main().sha == repo.commits["dev"]
    upstream.files([upstream.paths(upstream.main().sha, "setup.py")["setup.py"]])
    notes = [event.text for event in events if isinstance(event, Note)]
    assert notes == [
        "https://upstream.invalid/it is asked with your git settings (credentials, proxy); your hooks stay out"
    ]
    assert not (tmp_path / "hook-ran").exists()
    # A repository on this machine needs none of them.
    assert open_upstream(cache, repo.url).main() == upstream.main()


def test_a_remote_that_cannot_be_reached_leaves_nothing_and_shows_no_password(
    cache: Cache, events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    upstream = open_upstream(cache, "http://me:hunter2@127.0.0.1:1/x.git", events.append)
    with pytest.raises(
        HarnessError, match=r"cloning the history of http://\*\*\*@127.0.0.1:1/x.git.* failed: "
    ) as caught:
        upstream.main()
    assert "hunter2" not in f"{caught.value} {events}"
    assert not cache.remotes.exists()
    assert list(cache.incoming.iterdir()) == []


def test_a_password_is_not_kept_and_makes_no_other_clone(
    repo: UpstreamRepo, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "settings"
    settings.write_text(f'[url "{repo.url}"]\n\tinsteadOf = https://me:hunter2@upstream.invalid/it\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    upstream = open_upstream(cache, "https://me:hunter2@upstream.invalid/it")
    assert upstream.main().sha == repo.commits["dev"]
    assert open_upstream(cache, "https://you:other@upstream.invalid/it", offline=True).main() == upstream.main()
    assert [path for path in cache.root.rglob("*") if "hunter2" in str(path)] == []
    assert [path for path in cache.root.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()] == []


def test_a_clone_that_is_cut_off(repo: UpstreamRepo, git: Git, cache: Cache, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth=3", repo.url, "short")
    upstream = open_upstream(cache, str(tmp_path / "short"))
    assert line(upstream, repo, "early", "dev") == ["early", "tagged", "dev"]
    git(tmp_path / "short", "fetch", "--quiet", "--unshallow")
    assert line(open_upstream(cache, str(tmp_path / "short")), repo, "root", "dev")[0] == "root"


def test_a_clone_without_files_is_not_filled(repo: UpstreamRepo, git: Git, cache: Cache, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", repo.url, "partial")
    before = snapshot(tmp_path / "partial")
    upstream = open_upstream(cache, str(tmp_path / "partial"))
    with pytest.raises(HarnessError, match=r"partial lacks 3 files .* partial clone.*--repo"):
        upstream.pack(upstream.objects_of(upstream.paths(upstream.main().sha, "src/transformers")["src/transformers"]))
    assert snapshot(tmp_path / "partial") == before


def test_what_is_no_repository(cache: Cache, tmp_path: Path, git: Git) -> None:
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "folder", tmp_path / "missing"):
        with pytest.raises(BadInput, match=f"--repo {place} is no git repository"):
            open_upstream(cache, str(place))
    (tmp_path / "folder" / "HEAD").write_text("ref: refs/heads/main\n")
    with pytest.raises(BadInput, match="holds no objects"):
        open_upstream(cache, str(tmp_path / "folder"))
    git(tmp_path, "init", "--quiet", "empty")
    with pytest.raises(BadInput, match="no branch main or master"):
        open_upstream(cache, str(tmp_path / "empty")).main()
    with pytest.raises(BadInput, match="remote helper"):
        open_upstream(cache, f"ext::touch {tmp_path / 'ran'}")


def test_several_processes_clone_once(
    repo: UpstreamRepo, cache: Cache, start_python: Callable[..., Popen[str]]
) -> None:
    processes = [start_python(CLONE, cache.root, repo.url) for _ in range(3)]
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, f"{repo.commits['dev']}\n"), err
    assert len(list(cache.remotes.iterdir())) == 1
    assert list(cache.incoming.iterdir()) == []
