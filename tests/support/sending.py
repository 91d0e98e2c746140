# SPDX-License-Identifier: Apache-2.0
"""Series and bundles of the small library, for `headwater pr`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hunting_ground import SOURCE, Ground, Ran, git

TRAILERS = """\
Bug: https://github.com/somebody/transformers/issues/7
Origin: vendor, Headwater
Applied-Upstream: 5.4.0, somewhere
Headwater-Case: {case}
"""
TEST = """\
import unittest

from transformers import {module}


class {name}Test(unittest.TestCase):
    def test_it_works(self):
        self.assertEqual({module}.use(), 8)

    def test_it_is_there(self):
        self.assertTrue(hasattr({module}, "use"))
"""
GO_AHEAD = "https://github.com/somebody/transformers/issues/7#issuecomment-1"


@dataclass
class Series:
    """A series on the ground, one patch a module, each mending what it does and bringing a test."""

    ground: Ground
    name: str
    base: str
    modules: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Its folder."""
        return self.ground.root / "patches" / self.name

    @property
    def files(self) -> list[Path]:
        """Its patch files, in order."""
        return sorted(self.folder.glob("*.patch"))


def write_series(ground: Ground, modules: Sequence[str], base: str, **tests: str) -> Series:
    """The series `mend`; `tests` are other test files than the usual ones, by module ("" for none)."""
    folder = ground.root / "patches" / "mend"
    folder.mkdir(parents=True)
    tree = git(ground.cache / "transformers.git", "rev-parse", f"refs/headwater/releases/{base}:src/transformers")
    names = []
    for number, module in enumerate(modules, 1):
        names.append(f"{number:04d}-{module}.patch")
        test = tests.get(module, TEST.format(module=module, name=module.title()))
        (folder / names[-1]).write_text(patch_of(module, SOURCE["b"], SOURCE["g"], test), encoding="utf-8")
    (folder / "series").write_text("\n".join([f"base: {base} {tree}", *names, ""]), encoding="utf-8")
    return Series(ground, "mend", base, tuple(modules))


def patch_of(module: str, old: str, new: str, test: str) -> str:
    """A patch that replaces a module's text, and adds a test file."""
    body = TRAILERS.format(case=module.replace("_", "-"))
    head = f"""\
From: Somebody <somebody@invalid.example.org>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: [PATCH] {module} works

It did not.

{body}
"""
    path = f"src/transformers/{module}.py"
    changed = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n" + _hunk(old, new)
    place = f"tests/utils/test_sent_{module}.py"
    added = f"diff --git a/{place} b/{place}\nnew file mode 100644\n--- /dev/null\n+++ b/{place}\n" + _hunk("", test)
    return head + changed + (added if test else "")


def _hunk(old: str, new: str) -> str:
    was, now = old.splitlines(), new.splitlines()
    lines = [*(f"-{line}" for line in was), *(f"+{line}" for line in now)]
    return "\n".join([f"@@ -{1 if was else 0},{len(was)} +1,{len(now)} @@", *lines, ""])


@dataclass
class Sent:
    """A bundle."""

    ground: Ground
    folder: Path

    @property
    def evidence(self) -> Any:
        """Its evidence as plain data."""
        return json.loads((self.folder / "evidence.json").read_text(encoding="utf-8"))

    @property
    def patches(self) -> list[Path]:
        """Its patch files, in order."""
        return sorted(self.folder.glob("*.patch"))

    def forge(self, change: Callable[[Any], None]) -> None:
        """Change its evidence, laid out as before."""
        data = self.evidence
        change(data)
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        (self.folder / "evidence.json").write_text(text, encoding="utf-8")

    def write_body(self) -> None:
        """What a person does: own words in place of every mark."""
        lines = []
        for line in (self.folder / "BODY.md").read_text(encoding="utf-8").splitlines():
            if line.startswith("Go-ahead:"):
                line = f"Go-ahead: {GO_AHEAD}"
            elif "headwater: unwritten" in line:
                line = "I looked at it, and this is why."
            lines.append(line)
        (self.folder / "BODY.md").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def check(self, *words: str | Path) -> tuple[int, list[str], str]:
        """`headwater pr check`: its status, the kinds of its reasons, and everything that it says."""
        done = self.ground.run("pr", "check", self.folder, *words, "--json")
        assert "Traceback" not in done.err, done.err
        kinds = [one["kind"] for one in done.json["reasons"]] if done.status < 2 else []
        return done.status, kinds, done.out

    def verify(self, *words: str | Path) -> Ran:
        """`headwater pr verify`."""
        done = self.ground.run("pr", "verify", self.folder, *words, "--json")
        assert "Traceback" not in done.err, done.err
        return done


def send(series: Series, *words: str | Path, status: int = 0, name: str = "out") -> Sent:
    """`headwater pr SERIES WORDS`, which ends with `status`."""
    folder = series.ground.here / name
    done = series.ground.run("pr", series.name, *words, "--device", "cpu", "--output", folder, "--json")
    assert "Traceback" not in done.err, done.err
    assert done.status == status, (done.out, done.err)
    return Sent(series.ground, folder)


def git_files(ground: Ground, files: dict[str, str], subject: str = "Rules") -> str:
    """Commit files on the main line of the ground's clone; the commit."""
    for name, text in files.items():
        path = ground.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(ground.repo, "add", "--all")
    when = "2026-04-01T12:00:00+0000"
    git(ground.repo, "commit", "--quiet", "-m", subject, GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
    return git(ground.repo, "rev-parse", "HEAD")
