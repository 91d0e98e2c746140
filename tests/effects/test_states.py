# SPDX-License-Identifier: Apache-2.0
"""The states of a patch on a release, on real repositories; each is what `git apply`, held against the referee, makes.

Where two classes look alike, `git apply` exits 0 with the hunk in the wrong one: the last tests show that, and that
without the referee the patch would be said to apply.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from series import import_commits, mail_of, series_of, walk_series

from headwater.core.states import Merged, PatchState
from headwater.effects import merging
from headwater.effects.carrying import Carried
from headwater.effects.git import GitDir
from headwater.effects.merging import read_file
from headwater.effects.workspace import Cache

FILE, TEXT = "src/transformers/cache.py", "docs/cache.md"
MARK = "        self.mended = True\n"
METHODS = """\
    def update(self, states):
        keys = self.make(states)
        values = self.make(states)
        self.keys = keys
        self.values = values
        return keys, values
"""
PLACE = "        values = self.make(states)\n"
MARKED = METHODS.replace(PLACE, PLACE + MARK)
REWRITTEN = """\
    def update(self, states):
        pair = [self.project(part, self.scale) for part in states]
        self.cached += [one for one in pair if one is not None]
        return tuple(pair)
"""
WORDS = [f"line_{number} = {number}\n" for number in range(1, 41)]
PARAGRAPH = "Every layer\nkeeps its\nown states\nand no more\nthan these.\n"


def classes(*bodies: str, head: str = "class Base:\n    pass\n") -> str:
    """A module of classes, each from its name and its body: `classes("A", METHODS, "B", METHODS)`."""
    pairs = zip(bodies[::2], bodies[1::2], strict=True)
    return head + "".join(f"\n\nclass {name}(Base):\n{body}" for name, body in pairs)


def lines(*extra: str, **changes: str) -> str:
    """Forty statements, some replaced ("" takes one away): `lines(l2="two = 2")`; `extra` stands in front."""
    kept = (changes.get(f"l{n}", word.rstrip()) for n, word in enumerate(WORDS, 1))
    return "".join(f"{line}\n" for line in (*extra, *kept) if line)


def sections(*titles: str, mended: str = "") -> str:
    """A text of paragraphs that differ in nothing but their titles."""
    text = PARAGRAPH.replace("own states\n", "own states\n(mended)\n")
    return "".join(f"\n{title}\n\n{text if title == mended else PARAGRAPH}" for title in titles)


@dataclass(frozen=True)
class Fixture:
    """A step on a base, a release, and the state that the step has there. What is given as text is the one file."""

    name: str
    base: str
    patched: str
    release: str | Mapping[str, str]
    state: PatchState
    file: str = FILE

    def files(self, content: str | Mapping[str, str]) -> dict[str, bytes]:
        """A tree: that file and one that nothing touches."""
        held = {self.file: content} if isinstance(content, str) else content
        return {path: text.encode() for path, text in {"src/transformers/__init__.py": "", **held}.items()}


TWO, MENDED = classes("A", METHODS, "B", METHODS), classes("A", METHODS, "B", MARKED)
SECOND = lines(l20="mended = 20")
TWO_LINES = lines(l10="ten = 10", l30="thirty = 30")
DECORATED = "    @cached\n" + METHODS.replace("states):\n", 'states):\n        """Keep them."""\n')
METHOD_FREE = "    size = 1\n    names = ()\n    layers = []\n    axes = (0, 1)\n    device = None\n"
CLEAN, OFFSET, REDUCED = PatchState.CLEAN, PatchState.OFFSET, PatchState.REDUCED_CONTEXT
THREE_WAY, CONFLICT, MISPLACED = PatchState.THREE_WAY, PatchState.CONFLICT, PatchState.MISPLACED
APPLIED = PatchState.ALREADY_APPLIED

PLAIN = [
    Fixture("the base", lines(), SECOND, lines(), CLEAN),
    Fixture("elsewhere in the file", lines(), SECOND, lines(l2="two = 2"), CLEAN),
    Fixture("moved down", lines(), SECOND, lines("first = 0", "second = 0"), OFFSET),
    Fixture("moved up", lines(), SECOND, lines(l2="", l3=""), OFFSET),
    Fixture("context changed two lines off", lines(), SECOND, lines(l18="other = 18"), REDUCED),
    Fixture("context changed on both sides", lines(), SECOND, lines(l18="other = 18", l22="other = 22"), REDUCED),
    Fixture("context moved and changed", lines(), SECOND, lines("first = 0", l18="other = 18"), REDUCED),
    Fixture("between two changes of one hunk", lines(), lines(l20="a = 1", l24="b = 1"), lines(l22="c = 1"), THREE_WAY),
    Fixture("the line itself", lines(), SECOND, lines(l20="other = 20"), CONFLICT),
    Fixture("the line itself is gone", lines(), SECOND, lines(l20=""), CONFLICT),
    Fixture("done", lines(), SECOND, SECOND, APPLIED),
    Fixture("done, with changes around", lines(), SECOND, lines("first = 0", l20="mended = 20", l23="c = 1"), APPLIED),
    Fixture("half done, two hunks", lines(), TWO_LINES, lines(l10="ten = 10"), THREE_WAY),
    Fixture("half done, one hunk", lines(), lines(l20="a = 1", l23="b = 1"), lines(l23="b = 1"), THREE_WAY),
    Fixture("the file is renamed", lines(), SECOND, {"src/transformers/caches.py": lines()}, THREE_WAY),
    Fixture("the file is deleted", lines(), SECOND, {}, CONFLICT),
    Fixture("the file is another", lines(), SECOND, "nothing = None\n", CONFLICT),
    # Where nothing can be told, git apply is not believed.
    Fixture("the release is broken Python", lines(), SECOND, lines(l2="def ("), MISPLACED),
    Fixture("a text that is no Python", lines(), SECOND, lines("more"), OFFSET, TEXT),
]
SIBLINGS = [
    Fixture("deleted", TWO, MENDED, classes("A", METHODS), MISPLACED),
    Fixture("swapped", TWO, MENDED, classes("B", METHODS, "A", METHODS), MISPLACED),
    Fixture("rewritten", TWO, MENDED, classes("A", METHODS, "B", REWRITTEN), MISPLACED),
    Fixture("deleted, with another behind", TWO, MENDED, classes("A", METHODS, "C", METHODS), MISPLACED),
    Fixture("the first deleted", TWO, classes("A", MARKED, "B", METHODS), classes("B", METHODS), MISPLACED),
    Fixture("the first rewritten", TWO, classes("A", MARKED, "B", METHODS), classes("A", REWRITTEN, "B", METHODS),
            MISPLACED),
    Fixture("made empty", TWO, MENDED, classes("A", METHODS, "B", "    pass\n"), MISPLACED),
    Fixture("functions of a module, swapped", "\n\ndef a(self):\n" + METHODS + "\n\ndef b(self):\n" + METHODS,
            "\n\ndef a(self):\n" + METHODS + "\n\ndef b(self):\n" + MARKED,
            "\n\ndef b(self):\n" + METHODS + "\n\ndef a(self):\n" + METHODS, MISPLACED),
]  # fmt: skip
PARAGRAPHS = [
    Fixture("a paragraph gone", sections("A", "B"), sections("A", "B", mended="B"), sections("A"), MISPLACED, TEXT),
    Fixture("paragraphs swapped", sections("A", "B"), sections("A", "B", mended="B"), sections("B", "A"),
            MISPLACED, TEXT),
    Fixture("a paragraph in front, as long as another", sections("A", "B"), sections("A", "B", mended="B"),
            sections("N", "A", "B"), MISPLACED, TEXT),
]  # fmt: skip
NEAR_MISSES = [
    # Its name is all that tells a class from its siblings.
    Fixture("the class is renamed", TWO, MENDED, classes("A", METHODS, "Second", METHODS), MISPLACED),
    Fixture("only the sibling is rewritten", TWO, MENDED, classes("A", REWRITTEN, "B", METHODS), OFFSET),
    Fixture("only the sibling behind is rewritten", TWO, classes("A", MARKED, "B", METHODS),
            classes("A", METHODS, "B", REWRITTEN), CLEAN),
    Fixture("a class came in between", TWO, MENDED, classes("A", METHODS, "N", METHOD_FREE, "B", METHODS), OFFSET),
    Fixture("a decorator and a docstring came", classes("B", METHODS), classes("B", MARKED), classes("B", DECORATED),
            REDUCED),
    Fixture("a decorator and a docstring came, and the sibling fits", TWO, MENDED,
            classes("A", METHODS, "B", DECORATED), MISPLACED),
    Fixture("the file is renamed", TWO, MENDED, {"src/transformers/caches.py": TWO}, THREE_WAY),
    Fixture("the file is renamed, the classes swapped", TWO, MENDED,
            {"src/transformers/caches.py": classes("B", METHODS, "A", METHODS)}, THREE_WAY),
    Fixture("the file is renamed, and the class", TWO, MENDED,
            {"src/transformers/caches.py": classes("A", METHODS, "Second", METHODS)}, MISPLACED),
    Fixture("paragraphs of a text", sections("A", "B"), sections("A", "B", mended="B"), "\n" + sections("A", "B"),
            OFFSET, TEXT),
    Fixture("the sibling has it, the meant one not", TWO, MENDED, classes("A", MARKED, "B", METHODS), OFFSET),
    Fixture("both have it", TWO, MENDED, classes("A", MARKED, "B", MARKED), APPLIED),
    Fixture("it has it, with another method", TWO, MENDED,
            classes("A", METHODS, "B", "    size = 1\n\n" + MARKED), APPLIED),
    Fixture("module code", lines("import os"), lines("import os", l40="mended = 40"), lines("import os", "import re"),
            OFFSET),
]  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cache, GitDir, dict[str, str]]:
    """One repository with all trees of all fixtures."""
    cache = Cache(tmp_path_factory.mktemp("states") / "cache", "transformers")
    states = {}
    for number, fixture in enumerate(EVERY):
        for kind, content in (("base", fixture.base), ("patched", fixture.patched), ("release", fixture.release)):
            states[f"{number}-{kind}"] = fixture.files(content)
    git, ids = import_commits(cache, states)
    return cache, git, ids


@pytest.fixture
def commits(repository: tuple[Cache, GitDir, dict[str, str]]) -> Callable[[Fixture], tuple[str, str, str]]:
    """The commits of a fixture: base, patched, release."""
    _cache, _git, ids = repository

    def find(fixture: Fixture) -> tuple[str, str, str]:
        number = EVERY.index(fixture)
        return ids[f"{number}-base"], ids[f"{number}-patched"], ids[f"{number}-release"]

    return find


@pytest.fixture
def carried(
    repository: tuple[Cache, GitDir, dict[str, str]], commits: Callable[[Fixture], tuple[str, str, str]]
) -> Callable[[Fixture], Carried]:
    """What becomes of a fixture's step on its release."""
    cache, git, _ids = repository

    def carry(fixture: Fixture) -> Carried:
        base, patched, release = commits(fixture)
        [one] = walk_series(cache, git, series_of(git, base, mail_of(git, base, patched)), base, release)
        return one

    return carry


EVERY = [*PLAIN, *SIBLINGS, *PARAGRAPHS, *NEAR_MISSES]


def names(fixture: Fixture) -> str:
    """What a test is called."""
    return fixture.name


def marked(text: str) -> set[str]:
    """The classes and functions of a module that hold the mark."""
    kinds = ast.ClassDef | ast.FunctionDef
    return {node.name for node in ast.parse(text).body if isinstance(node, kinds) and MARK.strip() in ast.unparse(node)}


@pytest.mark.parametrize("fixture", EVERY, ids=names)
def test_state(
    repository: tuple[Cache, GitDir, dict[str, str]], carried: Callable[[Fixture], Carried], fixture: Fixture
) -> None:
    one = carried(fixture)
    assert one.state is fixture.state
    assert (one.commit is not None) == one.state.applies
    assert bool(one.reason) == one.state.refused
    if one.commit is not None and MARK in fixture.patched:
        [path] = fixture.files(fixture.release).keys() - {"src/transformers/__init__.py"}
        before = fixture.files(fixture.release)[path].decode()
        after = read_file(repository[1], one.commit, path).decode()
        assert marked(after) == marked(before) | marked(fixture.patched)


def test_every_state_of_a_carried_patch_is_there() -> None:
    by_the_atlas = {PatchState.FIXED_UPSTREAM, PatchState.ABSENT}
    assert {fixture.state for fixture in EVERY} == set(PatchState) - by_the_atlas


@pytest.mark.parametrize("fixture", [*SIBLINGS, *PARAGRAPHS], ids=names)
def test_git_apply_exits_0_in_the_wrong_place(
    repository: tuple[Cache, GitDir, dict[str, str]], commits: Callable[[Fixture], tuple[str, str, str]],
    git: Callable[..., str], tmp_path: Path, fixture: Fixture,
) -> None:  # fmt: skip
    _cache, mirror, _ids = repository
    base, patched, release = commits(fixture)
    (tmp_path / "mend.patch").write_bytes(mail_of(mirror, base, patched))
    work = tmp_path / "work"
    git(tmp_path, "clone", "--quiet", "--no-checkout", str(mirror.path), str(work))
    git(work, "checkout", "--quiet", release)
    git(work, "apply", "--index", "../mend.patch")
    text = (work / fixture.file).read_text(encoding="utf-8")
    if fixture in PARAGRAPHS:
        section = text.partition("(mended)")[0].count("\nB\n")
        assert section == (1 if fixture.release == sections("B", "A") else 0)
    else:
        assert len(marked(text)) == 1 and marked(text).isdisjoint(marked(fixture.patched))


@pytest.mark.parametrize("fixture", [*SIBLINGS, *PARAGRAPHS], ids=names)
def test_without_the_referee_it_would_be_said_to_apply(
    carried: Callable[[Fixture], Carried], fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert carried(fixture).state in (MISPLACED, CONFLICT)

    def trust(bench: merging.Bench, step: merging.PatchStep, onto: str) -> Merged:
        return Merged(bench.attempt(step.patch, onto).tree)

    monkeypatch.setattr(merging.Bench, "merge", trust)
    assert carried(fixture).state in (CLEAN, OFFSET)
