# SPDX-License-Identifier: Apache-2.0
"""Series between commits of a test's own repository."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from packaging.version import Version

from headwater.core.mail import read_patch
from headwater.core.series import SeriesFile
from headwater.effects.carrying import Applied, Carried, carrying
from headwater.effects.git import GitDir, init_bare
from headwater.effects.series_folder import Series
from headwater.effects.workspace import Cache

HEAD = b"From: A <a@invalid.example>\nDate: Thu, 1 Jan 2026 00:00:00 +0000\nSubject: [PATCH] mend\n\n"
Files = Mapping[str, bytes]


def import_commits(cache: Cache, states: Mapping[str, Files]) -> tuple[GitDir, dict[str, str]]:
    """A fresh mirror with a commit for each of `states`, and their ids by name. Paths are those in the repository."""
    cache.root.mkdir()
    init_bare(cache.mirror)
    git = GitDir(cache.mirror)
    parts = []
    for name, files in states.items():
        parts.append(f"commit refs/headwater/releases/{name}\ncommitter S <s@invalid.example> 0 +0000\ndata 0\n\n")
        for path, content in files.items():
            parts.append(f"M 100644 inline {path}\ndata {len(content)}\n{content.decode('latin-1')}\n")
    source = cache.root / "stream"
    source.write_bytes("".join(parts).encode("latin-1"))
    with source.open("rb") as opened:
        git("fast-import", "--quiet", stdin=opened)
    listed = git("for-each-ref", "--format=%(refname:lstrip=3) %(objectname)", "refs/headwater/releases")
    return git, dict(line.rsplit(" ", 1) for line in listed.splitlines())


def mail_of(git: GitDir, before: str, after: str, *options: str) -> bytes:
    """The step between two commits as a mail."""
    return HEAD + b"---\n\n" + git.raw("diff", "--binary", *options, before, after)


def series_of(git: GitDir, before: str, *patches: bytes, package: str = "transformers") -> Series:
    """Patches on the base `before`, as a series."""
    names = tuple(f"{number:04d}-mend.patch" for number in range(1, len(patches) + 1))
    file = SeriesFile(Version("5.0.0"), git("rev-parse", f"{before}:src/{package}"), names)
    return Series("mend", Path("mend"), file, tuple(map(read_patch, names, patches)))


def apply_series(
    cache: Cache, git: GitDir, series: Series, base: str, target: str, drop: Collection[str] = ()
) -> Applied:
    """Carry `series`, written against the commit `base`, to the commit `target`, without the patches `drop`."""
    with carrying(cache, git, lambda _release: base, _package(git, base)) as carrier:
        return carrier.apply(carrier.stack(series, None), target, drop)


def walk_series(cache: Cache, git: GitDir, series: Series, base: str, target: str) -> list[Carried]:
    """What becomes of each patch of `series`, written against the commit `base`, on the commit `target`."""
    with carrying(cache, git, lambda _release: base, _package(git, base)) as carrier:
        return list(carrier.walk(carrier.stack(series, None), target))


def _package(git: GitDir, base: str) -> str:
    return git("ls-tree", "--name-only", f"{base}:src").splitlines()[0]
