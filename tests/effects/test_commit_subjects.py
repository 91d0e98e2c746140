# SPDX-License-Identifier: Apache-2.0
"""Commits as subjects: the same tree as a release with the same code, whole in the mirror, in an environment that
satisfies their setup.py."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from index_server import IndexServer
from packaging.version import Version
from upstream_repo import UpstreamRepo

from headwater.core.cases import read_case
from headwater.core.errors import BadInput
from headwater.core.events import Event, Note, Started
from headwater.core.mail import read_patch
from headwater.core.pins import EnvironmentGroup, Pins
from headwater.core.series import SeriesFile
from headwater.core.verdicts import Verdict
from headwater.effects.commit_subjects import CommitSubjects
from headwater.effects.envs import Environments
from headwater.effects.index import Index
from headwater.effects.mirror import Mirror
from headwater.effects.nearest_commit import nearest_commit
from headwater.effects.probe import ProbeOptions, Prober, Subject
from headwater.effects.series_folder import Series
from headwater.effects.subjects import Subjects
from headwater.effects.trees import Trees
from headwater.effects.upstream_git import Upstream, open_upstream
from headwater.effects.workspace import Cache

Git = Callable[..., str]
# 5.4.0 as `tagged` has it, but for a script that wheels leave out; 5.5.0 is something else.
TAGGED = {
    "transformers/__init__.py": b'__version__ = "5.4.0"\n',
    "transformers/cache.py": b"x = 3\n",
    "transformers/other.py": b"y = 1\n",
}
LOCKS = {"old": "huggingface-hub==1.3.1\nnumpy==2.3.5\n", "new": "huggingface-hub==2.0\nnumpy==2.3.5\n"}
GROUPS = (
    EnvironmentGroup("5.4", Version("5.4.0"), Version("5.4.0"), "old"),
    EnvironmentGroup("5.5", Version("5.5.0"), Version("5.5.0"), "new"),
)


@dataclass(frozen=True)
class Lab:
    """Everything over one cache."""

    repo: UpstreamRepo
    upstream: Upstream
    mirror: Mirror
    pins: Pins
    subjects: Subjects
    commits: CommitSubjects

    def subject(self, name: str) -> Subject:
        return self.commits.subject(self.upstream.commit(self.repo.commits[name]))


@pytest.fixture(params=["clone", "remote"])
def lab(
    request: pytest.FixtureRequest, repo: UpstreamRepo, cache: Cache, index: Index, index_server: IndexServer,
    pins: Callable[..., Pins], events: list[Event],
) -> Lab:  # fmt: skip
    wheels = {
        "5.4.0": index_server.add("transformers", "5.4.0", TAGGED),
        "5.5.0": index_server.add("transformers", "5.5.0", {"transformers/__init__.py": b"", "transformers/n.py": b""}),
    }
    all_pins = pins(wheels, groups=GROUPS)
    upstream = open_upstream(cache, repo.url if request.param == "remote" else str(repo.path), events.append)
    mirror = Mirror(cache, all_pins, index, events.append)
    trees = Trees(cache, mirror.git, "transformers", events.append)
    subjects = Subjects(cache, all_pins, mirror, trees, events.append)
    return Lab(
        repo, upstream, mirror, all_pins, subjects, CommitSubjects(upstream, subjects, all_pins, LOCKS.__getitem__)
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def started(events: list[Event], word: str) -> list[str]:
    return [event.what for event in events if isinstance(event, Started) and word in event.what]


def test_a_commit_is_laid_out_and_whole_in_the_mirror(lab: Lab, git: Git) -> None:
    subject = lab.subject("merge")
    assert subject.revision == lab.repo.commits["merge"]
    assert subject.tree == git(lab.repo.path, "rev-parse", f"{subject.revision}:src/transformers")
    assert contents(subject.lay_out().path) == {
        "transformers/__init__.py": b'__version__ = "5.4.0.dev0"\n',
        "transformers/cache.py": b"x = 1\n",
        "transformers/other.py": b"y = 1\n",
    }
    lab.mirror.git("fsck", "--full", "--strict")
    assert lab.mirror.replace_if_damaged() is False


def test_a_commit_with_a_releases_code_is_its_tree_and_needs_nothing_of_the_remote(
    lab: Lab, events: list[Event]
) -> None:
    release = lab.subjects.release(lab.pins.find("5.4.0"))
    release.lay_out()
    subject = lab.subject("tagged")
    assert subject.tree == release.tree
    before = len(started(events, "fetching"))
    assert subject.lay_out() == release.lay_out()
    assert len(started(events, "fetching")) == before
    assert len(started(events, "laying out")) == 1


def test_only_what_the_mirror_lacks_is_fetched(lab: Lab, events: list[Event]) -> None:
    lab.mirror.ensure(lab.pins.find("5.4.0"))
    lab.commits.prefetch([lab.upstream.commit(lab.repo.commits[name]) for name in ("one", "early")])
    events.clear()
    lab.subject("one").lay_out()
    lab.subject("early").lay_out()
    lab.subject("early").lay_out()
    remote = lab.upstream.name.startswith("file:")
    # cache.py and other.py of `one`; of `early` only cache.py.
    assert [what.split(" from ")[0] for what in started(events, "fetching")] == (
        ["fetching 2 files", "fetching 1 files"] if remote else []
    )


def test_a_mirror_that_is_lost_or_packed_has_the_tree_again(lab: Lab, cache: Cache) -> None:
    subject = lab.subject("one")
    before = contents(subject.lay_out().path)
    lab.mirror.repack(anew=True)
    shutil.rmtree(cache.trees)
    shutil.rmtree(cache.blobs)
    assert contents(subject.lay_out().path) == before
    lab.mirror.git("fsck", "--full", "--strict")
    for folder in (cache.trees, cache.blobs, cache.mirror):
        shutil.rmtree(folder)
    assert contents(subject.lay_out().path) == before


def test_a_damaged_mirror_is_replaced(lab: Lab, cache: Cache, events: list[Event]) -> None:
    subject = lab.subject("one")
    before = contents(subject.lay_out().path)
    blob = lab.mirror.git("rev-parse", f"{subject.tree}:cache.py")
    (cache.mirror / "objects" / blob[:2] / blob[2:]).unlink()
    shutil.rmtree(cache.trees)
    shutil.rmtree(cache.blobs)
    assert contents(subject.lay_out().path) == before
    assert any(isinstance(event, Note) and "the mirror is damaged" in event.text for event in events)


@pytest.mark.parametrize("number", [1, 300])
def test_few_objects_and_many(
    number: int, git: Git, tmp_path: Path, cache: Cache, mirror_of: Callable[..., tuple[Mirror, list[str]]]
) -> None:
    mirror, _commits = mirror_of({"5.0.0": {"transformers/__init__.py": b""}})
    repo = tmp_path / "upstream"
    (repo / "src" / "transformers" / "deep" / "er").mkdir(parents=True)
    for n in range(number):
        (repo / "src" / "transformers" / "deep" / "er" / f"m{n}.py").write_text(f"x = {n}\n")
    git(repo, "init", "--quiet")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "c")
    tree = git(repo, "rev-parse", "HEAD:src/transformers")
    for _again in range(2):
        mirror.take(tree, open_upstream(cache, str(repo)))
    assert mirror.git("rev-parse", f"refs/headwater/trees/{tree}") == tree
    assert len(mirror.git("ls-tree", "-r", tree).splitlines()) == number
    mirror.git("fsck", "--full", "--strict")
    assert mirror.imported() == ["5.0.0"]


def test_the_environment_follows_setup_py(lab: Lab) -> None:
    subject = lab.subject("one")
    assert (str(subject.pin.version), subject.pin.requires_python, subject.untestable) == ("5.4.0", ">=3.10.0", None)
    assert [str(r) for r in lab.commits.requirements(lab.upstream.commit(lab.repo.commits["one"]))]


CASE = """\
# /// case
# id = "some"
# title = "Some case"
# references = []
# severity = "crash"
# user_sees = "x"
# meanwhile = "y"
# [[signature]]
# type = "RuntimeError"
# message = "x"
# ///
def run(device): pass
"""


def test_a_commit_that_no_environment_satisfies_is_untestable(lab: Lab, cache: Cache) -> None:
    subject = lab.subject("dev")
    assert subject.untestable is not None
    with Prober(cache, cast(Environments, None), "transformers", ProbeOptions()) as prober:
        row = prober.probe(subject, read_case("some.py", CASE, {"some.py": CASE.encode()}), "cpu")
    assert row.verdict is Verdict.UNTESTABLE
    assert row.evidence.message == (
        "commit of 5.5.0.dev0: no environment satisfies what its setup.py requires: 5.5 lacks huggingface-hub>=9 "
        "(5.4: huggingface-hub>=9)"
    )


def test_a_commit_without_setup_py_is_untestable(lab: Lab, git: Git) -> None:
    git(lab.repo.path, "rm", "--quiet", "setup.py")
    git(lab.repo.path, "commit", "--quiet", "-m", "no setup.py")
    subject = lab.commits.subject(lab.upstream.main())
    assert subject.untestable == "commit of 5.5.0.dev0: it has no setup.py that would say what it requires"
    assert str(subject.pin.version) == "5.5.0"
    assert contents(subject.lay_out().path)["transformers/cache.py"] == b"x = 4\n"


def test_a_commit_without_the_library(lab: Lab) -> None:
    with pytest.raises(BadInput, match=r"Nothing in common\) of .* has no src/transformers/__init__\.py"):
        lab.subject("unrelated")


def test_a_series_on_a_commit(lab: Lab, git: Git) -> None:
    """A patch against 5.4.0 is merged onto a commit whose tree nobody laid out before."""
    base = lab.mirror.ensure(lab.pins.find("5.4.0"))
    work = lab.repo.path
    git(work, "checkout", "--quiet", lab.repo.commits["tagged"])
    (work / "src/transformers/other.py").write_text("y = 'patched'\n")
    git(work, "commit", "--quiet", "-am", "Patch other")
    patch = read_patch("0001.patch", git(work, "format-patch", "--stdout", "-1").encode() + b"\n")
    file = SeriesFile(Version("5.4.0"), lab.mirror.library_tree(base), ("0001.patch",))
    patched = lab.subjects.patched(lab.subject("merge"), Series("s", Path("s"), file, (patch,)))
    assert contents(patched.subject.lay_out().path)["transformers/other.py"] == b"y = 'patched'\n"
    assert contents(patched.subject.lay_out().path)["transformers/cache.py"] == b"x = 1\n"
    assert (patched.subject.revision, patched.subject.series) == (lab.repo.commits["merge"], "s")


@pytest.mark.parametrize(
    ("changes", "name", "differing"), [({}, "tagged", 0), ({"transformers/cache.py": b"x = 2\n"}, "early", 1)]
)
def test_the_nearest_commit(
    lab: Lab, index: Index, index_server: IndexServer, pins: Callable[..., Pins], events: list[Event],
    changes: Mapping[str, bytes], name: str, differing: int,
) -> None:  # fmt: skip
    """Found by contents alone: a wheel has lost modes, and what is no Python counts for nothing."""
    files = {**TAGGED, **changes, "transformers/data.txt": b"shipped only\n"}
    files["transformers/other.py*"] = files.pop("transformers/other.py")
    [pin] = pins({"5.6.0": index_server.add("transformers", "5.6.0", files)}).releases
    pin = replace(pin, uploaded=datetime(2026, 3, 20, tzinfo=UTC))
    found = nearest_commit(lab.upstream, lab.mirror, pin, "transformers", events.append)
    assert (found.commit.sha, found.differing_files) == (lab.repo.commits[name], differing)
    assert started(events, "nearest to 5.6.0 among 6")
    pinned = replace(pin, nearest_commit=lab.repo.commits["root"], differing_files=7)
    told = nearest_commit(lab.upstream, lab.mirror, pinned, "transformers")
    assert (told.commit.sha, told.differing_files) == (lab.repo.commits["root"], 7)
    elsewhere = replace(pin, nearest_commit="1" * 40)
    assert nearest_commit(lab.upstream, lab.mirror, elsewhere, "transformers") == found
    with pytest.raises(BadInput, match=r"no commit of the main line around 2020-01-01 \(5\.6\.0\)"):
        nearest_commit(
            lab.upstream, lab.mirror, replace(pin, uploaded=datetime(2020, 1, 1, tzinfo=UTC)), "transformers"
        )
