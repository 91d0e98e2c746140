# SPDX-License-Identifier: Apache-2.0
"""A small repository in the shape of upstream's: a main line with a merge, side branches, a tag, dates out of order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Git = Callable[..., str]

SETUP = """
from setuptools import setup
_deps = ["huggingface-hub{hub}", "numpy>=1.17"]
deps = {{b: a for a, b in (split(x) for x in _deps)}}
install_requires = [deps["huggingface-hub"], deps["numpy"]]
setup(name="transformers", python_requires=">=3.10.0", install_requires=install_requires)
"""


@dataclass(frozen=True)
class UpstreamRepo:
    """The repository's work tree; `commits` are the ids of its commits by what they are called here."""

    path: Path
    commits: dict[str, str]

    @property
    def url(self) -> str:
        """Its address as a remote."""
        return f"file://{self.path}"


class Builder:
    """Makes commits, one a day from 2026-03-01 noon on, with the same ids every time."""

    def __init__(self, git: Git, path: Path) -> None:
        self._git, self.path, self._day = git, path, 0
        path.mkdir()
        self.run("init", "--quiet")

    def run(self, *words: str, date: str = "") -> str:
        """Run git in the work tree, at noon of the next day or at `date`."""
        when = date or f"2026-03-{self._day:02}T12:00:00+0000"
        return self._git(self.path, *words, GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)

    def commit(self, subject: str, files: dict[str, str], date: str = "") -> None:
        """Write files and commit them."""
        self._day += 1
        for file, content in files.items():
            place = self.path / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content, encoding="utf-8")
        self.run("add", "--all")
        self.run("commit", "--quiet", "--allow-empty", "-m", subject, date=date)

    def merge(self, branch: str, subject: str) -> None:
        """Merge a branch, by a commit of its own."""
        self._day += 1
        self.run("merge", "--quiet", "--no-ff", "-m", subject, branch)


def library(version: str, **files: str) -> dict[str, str]:
    """The files of a commit: `library("5.4.0.dev0", cache="x = 1")`."""
    init = {"src/transformers/__init__.py": f'__version__ = "{version}"\n'}
    return init | {f"src/transformers/{name}.py": content for name, content in files.items()}


# Where `build` put each commit, by what it is called here.
_NAMES = {
    "root": "main~5", "one": "main~4", "merge": "main~3", "early": "main~2", "tagged": "main~1", "dev": "main",
    "side": "side", "feature": "feature", "unrelated": "unrelated",
}  # fmt: skip


def commits_of(git: Git, path: Path) -> dict[str, str]:
    """The ids of the commits that `build` made."""
    ids = git(path, "rev-parse", *_NAMES.values()).split()
    return dict(zip(_NAMES, ids, strict=True))


def build(git: Git, path: Path) -> None:
    """root - one - merge - early - tagged - dev on main; side in merge; feature off one; unrelated."""
    new = Builder(git, path)
    setup = {"setup.py": SETUP.format(hub=">=1.3,<2.0"), "README.md": "not part of the library\n"}
    new.commit("Begin", {**library("5.4.0.dev0", cache="x = 0\n", other="y = 0\n"), **setup})
    new.commit("One thing (#11)", library("5.4.0.dev0", cache="x = 1\n"))
    new.run("checkout", "--quiet", "-b", "side")
    new.commit("On the side", library("5.4.0.dev0", other="y = 1\n"))
    new.run("checkout", "--quiet", "main")
    new.merge("side", "Merge pull request #12 from somebody/side")
    # Rebased merges carry the dates of their authors' machines: this one is older than its parent.
    new.commit("Early (#13)", library("5.4.0.dev0", cache="x = 2\n"), date="2026-03-02T18:00:00+0000")
    new.commit("Release (#14)", library("5.4.0", cache="x = 3\n"))
    new.run("tag", "-a", "v5.4.0", "-m", "Adds tag v5.4.0")
    needs = {"setup.py": SETUP.format(hub=">=9")}
    new.commit("dev version", {**library("5.5.0.dev0", cache="x = 4\n"), **needs})
    new.run("checkout", "--quiet", "-b", "feature", "main~4")
    new.commit("A feature", library("5.4.0.dev0", feature="z = 1\n"))
    new.run("checkout", "--quiet", "--orphan", "unrelated")
    new.run("rm", "--quiet", "-r", "--force", ".")
    new.commit("Nothing in common", {"LICENSE": "none\n"})
    new.run("checkout", "--quiet", "main")
    new.run("config", "uploadpack.allowFilter", "true")
