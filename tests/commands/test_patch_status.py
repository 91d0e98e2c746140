# SPDX-License-Identifier: Apache-2.0
"""`headwater patch status` and `explain` on a small workspace: what the atlas says goes before what merges, and what
merges before what git finds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bench import HEAD as PINS
from index_server import IndexServer
from packaging.version import Version
from series import HEAD

from headwater.commands.context import Context
from headwater.commands.patch.explain import explain
from headwater.commands.patch.status import status
from headwater.core.errors import BadInput
from headwater.core.events import Advanced, Event, Finished, Started
from headwater.core.patch_results import SeriesStatus, status_exit
from headwater.core.pins import Pin
from headwater.core.pins_text import add_releases
from headwater.core.states import Merged
from headwater.core.states import PatchState as S
from headwater.effects import merging

FIRST, SECOND = "0001-first.patch", "0002-second.patch"
METHODS = "    def update(self):\n        one = 1\n        two = 2\n        three = 3\n"
METHODS += "        four = 4\n        five = 5\n        six = 6\n"
TEXTS = {
    "5.0.0": "class A:\n    pass\n",
    "5.1.0": f"class A:\n{METHODS}\n\nclass B:\n{METHODS}",
    "5.1.1": f"class A:\n{METHODS}\n\nclass B:\n{METHODS}",
    "5.2.0": f"import os\n\n\nclass A:\n{METHODS}\n\nclass B:\n{METHODS}",
    "5.3.0": f"class A:\n{METHODS}",
    "5.4.0": "class A:\n    fixed = True\n",
    "5.5.0": "class A:\n    fixed = True\n",
}
BASE, VARIANT = "5.1.0", "5.3.0"


def diff(line: int, old: str, new: str) -> bytes:
    """A change of one line, with what stands around it in `METHODS`."""
    words = [line.strip() for line in METHODS.splitlines()]
    at = words.index(old)
    body = "".join(f"-        {w}\n+        {new}\n" if w == old else f"         {w}\n" for w in words[at - 1 : at + 2])
    name = "src/transformers/cache.py"
    return (f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -{line},3 +{line},3 @@\n{body}").encode()


def mail(case: str, content: bytes) -> bytes:
    """A patch with the trailer of a case."""
    return HEAD + f"Headwater-Case: {case}\n---\n\n".encode() + content


# Both are for class B.
PATCHES = {
    FIRST: mail("one", diff(13, "two = 2", "two = 22")),
    SECOND: mail("two", diff(16, "five = 5", "five = 55")),
}
ATLAS = "schema = 1\n"


def entry(case: str, verdict: str, first: str, last: str) -> str:
    """An entry of the atlas."""
    return f'\n[[entry]]\ncase = "{case}"\nverdict = "{verdict}"\nfirst = "{first}"\nlast = "{last}"\n'


@dataclass
class Small:
    """The workspace, and a run in it."""

    root: Path
    context: Context
    events: list[Event]
    trees: dict[str, str]

    def write_series(self, lines: str = "", **variants: dict[str, bytes]) -> None:
        """The series `mend` on 5.1.0, with range lines and variants."""
        folder = self.root / "patches" / "mend"
        files: dict[str, bytes] = {"series": self._series(BASE, [*lines.splitlines(), FIRST, SECOND]), **PATCHES}
        for name, patches in variants.items():
            files[f"{name}/series"] = self._series(VARIANT, list(patches))
            files |= {f"{name}/{patch}": content for patch, content in patches.items()}
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)

    def _series(self, base: str, lines: list[str]) -> bytes:
        return "\n".join([f"base: {base} {self.trees[base]}", *lines, ""]).encode()

    def write_atlas(self, *entries: str) -> None:
        """The atlas."""
        path = self.root / "tests" / "repro" / "atlas.toml"
        path.parent.mkdir(parents=True)
        path.write_text(ATLAS + "".join(entries), encoding="utf-8")

    def status(self, spec: str = ">=5.0.0") -> SeriesStatus:
        """The status of the series."""
        [found] = status(self.context, ["mend"], spec)
        return found

    def grid(self, spec: str = ">=5.0.0") -> dict[str, tuple[S, ...]]:
        """The states by release."""
        return {one.release: tuple(cell.state for cell in one.cells) for one in self.status(spec).releases}


@pytest.fixture
def small(index_server: IndexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Small]:
    """A workspace with seven releases of one small file."""
    monkeypatch.setenv("PIP_INDEX_URL", index_server.url())
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("UV_INDEX_URL", raising=False)
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path / "cache"))
    uploaded = datetime(2026, 5, 1, tzinfo=UTC)
    pins = []
    for version, text in TEXTS.items():
        files = {"transformers/__init__.py": b"", "transformers/cache.py": text.encode()}
        wheel = index_server.add("transformers", version, files)
        pins.append(Pin(Version(version), uploaded, ">=3.10", None, wheel, None))
    root, events = tmp_path / "workspace", list[Event]()
    (root / "upstream").mkdir(parents=True)
    (root / "upstream" / "transformers.toml").write_text(add_releases(PINS, pins), encoding="utf-8")
    with ExitStack() as exits:
        context = Context(root, events.append, False, exits)
        commits = context.mirror.ensure_all(pins)
        trees = {str(pin.version): context.mirror.library_tree(one) for pin, one in zip(pins, commits, strict=True)}
        yield Small(root, context, events, trees)


def test_by_merges_alone(small: Small) -> None:
    small.write_series()
    grid = small.grid()
    assert grid["5.1.0"] == grid["5.1.1"] == (S.CLEAN, S.CLEAN)
    assert grid["5.2.0"] == (S.OFFSET, S.OFFSET)
    assert grid["5.3.0"] == (S.MISPLACED, S.MISPLACED)
    assert grid["5.0.0"] == grid["5.4.0"] == grid["5.5.0"] == (S.CONFLICT, S.CONFLICT)
    found = small.status()
    assert (found.base, found.patches, found.droppable) == ("5.1.0", (FIRST, SECOND), ())
    assert status_exit([found]) == 1
    assert status_exit([small.status("5.1.0,5.2.0")]) == 0
    refused = [cell for one in found.releases for cell in one.cells if cell.state.refused]
    assert all("src/transformers/cache.py" in cell.reason for cell in refused)


def test_what_the_atlas_says_goes_first(small: Small) -> None:
    small.write_series()
    small.write_atlas(
        entry("one", "absent", "5.0.0", "5.0.0"), entry("one", "bad", "5.1.0", "5.3.0"),
        entry("one", "good", "5.4.0", "5.5.0"), entry("two", "absent", "5.0.0", "5.0.0"),
        entry("two", "bad", "5.1.0", "5.2.0"), entry("two", "good", "5.3.0", "5.3.0"),
        entry("two", "other-failure", "5.4.0", "5.4.0"), entry("two", "good", "5.5.0", "5.5.0"),
    )  # fmt: skip
    found = small.status()
    assert small.grid() == {
        "5.0.0": (S.ABSENT, S.ABSENT),
        "5.1.0": (S.CLEAN, S.CLEAN),
        "5.1.1": (S.CLEAN, S.CLEAN),
        "5.2.0": (S.OFFSET, S.OFFSET),
        "5.3.0": (S.MISPLACED, S.FIXED_UPSTREAM),
        "5.4.0": (S.FIXED_UPSTREAM, S.CONFLICT),
        "5.5.0": (S.FIXED_UPSTREAM, S.FIXED_UPSTREAM),
    }
    assert found.droppable == ("5.5.0",)
    assert status_exit([small.status("5.0.0,5.1.0,5.2.0,5.5.0")]) == 0
    assert sorted(path.name for path in (small.root / "patches" / "mend").iterdir()) == [FIRST, SECOND, "series"]


def test_releases_with_the_same_text_are_judged_once(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    small.write_series()
    small.write_atlas(entry("one", "good", "5.5.0", "5.5.0"))
    seen: list[str] = []
    merge = merging.Bench.merge

    def counted(bench: merging.Bench, step: merging.PatchStep, onto: str) -> Merged:
        seen.append(step.patch.file)
        return merge(bench, step, onto)

    monkeypatch.setattr(merging.Bench, "merge", counted)
    assert small.grid("5.1.1,5.2.0")["5.1.1"] == (S.CLEAN, S.CLEAN)
    # 5.1.1 has the base's text, under another commit.
    assert seen == [FIRST, SECOND, FIRST, SECOND]
    seen.clear()
    assert small.grid("5.4.0,5.5.0") == {"5.4.0": (S.CONFLICT,) * 2, "5.5.0": (S.FIXED_UPSTREAM, S.CONFLICT)}
    assert seen == [FIRST, SECOND, SECOND]


def test_a_variant_serves_its_range(small: Small) -> None:
    own = {FIRST: mail("one", diff(3, "two = 2", "two = 22")), SECOND: mail("two", diff(6, "five = 5", "five = 55"))}
    small.write_series("range 5.3.0 without-b", **{"without-b": own})
    found = {one.release: one for one in small.status("5.2.0,5.3.0,5.4.0").releases}
    assert {release: one.variant for release, one in found.items()} == {
        "5.2.0": None, "5.3.0": "without-b", "5.4.0": None,
    }  # fmt: skip
    assert [cell.state for cell in found["5.3.0"].cells] == [S.CLEAN, S.CLEAN]
    first, second = explain(small.context, "mend", "5.3.0")
    assert (first.file, first.base, first.state) == (f"patches/mend/without-b/{FIRST}", "5.3.0", S.CLEAN)
    assert first.sha256 == hashlib.sha256(own[FIRST]).hexdigest()
    assert second.why == "`range 5.3.0 without-b` names this release alone"
    [first, second] = explain(small.context, "mend", "5.2.0")
    assert (first.file, first.base, first.state) == (f"patches/mend/{FIRST}", "5.1.0", S.OFFSET)
    assert first.sha256 == hashlib.sha256(PATCHES[FIRST]).hexdigest()
    assert second.why == "no range names this release: the default serves it"


def test_explain_says_what_is_not_needed(small: Small) -> None:
    small.write_series()
    small.write_atlas(entry("one", "good", "5.2.0", "5.5.0"), entry("two", "absent", "5.4.0", "5.4.0"))
    both = [explain(small.context, "mend", release) for release in ("5.2.0", "5.4.0")]
    assert [[(one.state, one.reason) for one in each] for each in both] == [
        [(S.FIXED_UPSTREAM, "by the atlas"), (S.OFFSET, "")],
        [(S.FIXED_UPSTREAM, "by the atlas"), (S.ABSENT, "by the atlas")],
    ]


def test_progress_and_words_that_name_nothing(small: Small) -> None:
    with pytest.raises(BadInput, match="there is no series in patches/"):
        status(small.context, [], "5.1.0")
    small.write_series()
    small.events.clear()
    assert [one.name for one in status(small.context, [], "5.1.0,5.2.0")] == ["mend"]
    kinds = [type(event) for event in small.events]
    assert kinds == [Started, Advanced, Advanced, Finished]
    with pytest.raises(BadInput, match="'other'"):
        status(small.context, ["other"], "5.1.0")
    with pytest.raises(BadInput, match=r"5\.9\.0"):
        status(small.context, [], "5.9.0")
    with pytest.raises(BadInput, match="'other'"):
        explain(small.context, "other", "5.1.0")


def test_nothing_is_checked_out(small: Small) -> None:
    small.write_series()
    before = small.context.mirror.git("for-each-ref")
    small.grid()
    assert small.context.mirror.git("for-each-ref") == before
    assert list(small.context.cache.incoming.iterdir()) == []
    assert not small.context.cache.trees.exists()
