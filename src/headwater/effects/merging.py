# SPDX-License-Identifier: Apache-2.0
"""One patch on one tree, inside a repository, without checking anything out: strictly, by git's search for context,
and by the three-way merge that is the referee."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parseaddr
from pathlib import Path
from typing import IO

from headwater.core.definitions import touched_definitions
from headwater.core.diffs import hunk_at
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.mail import Patch
from headwater.core.states import Attempt, Merged
from headwater.effects.git import GitDir, GitFailed

# Renamed folders draw new files after them only by a guess about the author's wish. Markers show the base too.
_MERGE = ("-c", "merge.directoryRenames=false", "-c", "merge.conflictStyle=zdiff3", "merge-tree", "--write-tree")

# How git says that it can make no person and no time of what it was given.
_REFUSED = re.compile(r"ident name|disallowed characters|invalid date format")


@dataclass(frozen=True)
class PatchStep:
    """A patch as the step between two commits: `before`, and `after` with the patch on top."""

    patch: Patch
    before: str
    after: str


@dataclass(frozen=True)
class Bench:
    """A repository, and a folder that goes away, with an index to work in."""

    git: GitDir
    folder: Path
    _sides: dict[PatchStep, tuple[str, str, set[str]]] = field(default_factory=dict, compare=False)

    def tree_of(self, commit: str) -> str:
        """The id of a commit's root tree."""
        return self.git("rev-parse", "--verify", f"{commit}^{{tree}}")

    def ids(self, names: Sequence[str]) -> list[str | None]:
        """The object ids that names such as COMMIT:PATH stand for; None where there is none."""
        with self._asking(names) as asked:
            answers = self.git("cat-file", "--batch-check=%(objectname)", stdin=asked).split("\n")
        return [None if answer.endswith(" missing") else answer for answer in answers]

    @contextmanager
    def _asking(self, names: Sequence[str]) -> Iterator[IO[bytes]]:
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape"))
            asked.seek(0)
            yield asked

    def commit(self, patch: Patch, tree: str, parent: str) -> str:
        """A commit of `tree` with a patch's author, date and message. The same input gives the same id.

        Raises:
            BadInput: git takes no such author or date.
        """
        message = self.folder / "message"
        message.write_text(patch.message, encoding="utf-8")
        name, address = split_author(patch.author)
        who = {"GIT_AUTHOR_NAME": name or address, "GIT_AUTHOR_EMAIL": address, "GIT_AUTHOR_DATE": patch.date}
        try:
            return self.git("commit-tree", "-p", parent, "-F", message, tree, environ=who)
        except GitFailed as error:
            if not _REFUSED.search(error.stderr):
                raise
            raise BadInput(
                f"{patch.file}: git takes no commit of author {patch.author!r} and date {patch.date!r}: {error.stderr}"
            ) from error

    def apply_strictly(self, patch: Patch, onto: str, series: str, base: str) -> str:
        """The tree that a patch makes of `onto`, every hunk at its very line; `series` and `base` are for errors.

        Raises:
            PatchFailed: naming file and hunk.
        """
        try:
            said = self._apply(patch, onto)
        except GitFailed as error:
            words = "; ".join(_reasons(patch, error.stderr)).replace(str(self.folder / "patch"), patch.file)
            raise PatchFailed(
                f"patch {patch.file} of series {series} does not apply to its base {base}: {words}"
            ) from error
        # git apply looks for another place where a hunk fits, and in a file of look-alikes it finds one.
        if moved := re.search(r"Hunk #(\d+) succeeded at .*offset.*", said):
            raise PatchFailed(
                f"patch {patch.file} of series {series} does not apply to its base {base} as it stands: {moved[0]}; "
                f"correct the line numbers of its hunk {moved[1]}"
            )
        return self.git("write-tree", index=self._index)

    def attempt(self, patch: Patch, onto: str) -> Attempt:
        """What `git apply` makes of a patch on `onto`; with less context where it refuses the patch as it stands."""
        for reduced in (False, True):
            try:
                said = self._apply(patch, onto, *(["-C1"] if reduced else []))
            except GitFailed:
                continue
            moved = re.search(r"Hunk #\d+ succeeded at ", said) is not None
            return Attempt(self.git("write-tree", index=self._index), moved, reduced)
        return Attempt(None)

    def merge(self, step: PatchStep, onto: str) -> Merged:
        """The referee: the three-way merge, and a look at the definitions that it touches."""
        tree, conflicts = self.merged_tree(step, onto)
        return Merged(None, f"conflicts in {conflicts}") if conflicts else self.placed(step, onto, tree)

    def merged_tree(self, step: PatchStep, onto: str) -> tuple[str, str]:
        """git cherry-pick's merge of a step onto `onto`, on synthetic commits, since git 2.39's merge-tree takes no
        merge base: the tree, with conflict markers where the sides disagree, and the files in conflict ("" if none)."""
        base, theirs, _meant = self._side(step)
        ours = self.git("commit-tree", "-m", "ours", "-p", base, f"{onto}^{{tree}}")
        try:
            return self.git(*_MERGE, ours, theirs).splitlines()[0], ""
        except GitFailed as error:
            if error.status != 1:
                raise
            return error.output.splitlines()[0], _conflicting_files(error.output)

    def _side(self, step: PatchStep) -> tuple[str, str, set[str]]:
        """The patch's side of every merge, made once: the base, its child with the patch, the Python files changed."""
        if step not in self._sides:
            base = self.git("commit-tree", "-m", "base", f"{step.before}^{{tree}}")
            theirs = self.git("commit-tree", "-m", "theirs", "-p", base, f"{step.after}^{{tree}}")
            self._sides[step] = base, theirs, self._changed_python(step.before, step.after)
        return self._sides[step]

    @property
    def _index(self) -> Path:
        return self.folder / "index"

    def _apply(self, patch: Patch, onto: str, *options: str) -> str:
        path, work = self.folder / "patch", self.folder / "work"
        work.mkdir(exist_ok=True)
        path.write_bytes(patch.diff)
        self.git("read-tree", onto, index=self._index)
        return self.git.words(
            "apply", "--cached", "--verbose", "--whitespace=nowarn", *options, path, index=self._index, work_tree=work
        )

    def placed(self, step: PatchStep, onto: str, tree: str) -> Merged:
        """Where a release has put look-alike classes in another order, a merge by lines may take one for the other:
        what is touched must have the same name as on the base."""
        changed, meant = self._changed_python(onto, tree), self._side(step)[2]
        sides = self._texts((step.before, step.after, onto, tree), sorted(changed | meant))
        kept = set.intersection(*map(set, sides))
        # What either side made, removed or renamed is compared together: a definition may stand in any of these files.
        moved = sorted((changed | meant) - kept)
        for paths in [*([path] for path in sorted(changed & kept)), moved]:
            before, after, ours, theirs = ([side[path] for path in paths if path in side] for side in sides)
            try:
                wanted = touched_definitions(before, after)
            except (SyntaxError, ValueError):
                # No Python on the patch's own base, e.g. a template: it has no definitions that could be mistaken.
                continue
            try:
                seen = touched_definitions(ours, theirs)
            except (SyntaxError, ValueError) as error:
                return Merged(None, f"leaves {', '.join(paths)} broken, or finds it so: {error}")
            if elsewhere := sorted(seen - wanted):
                return Merged(None, f"would change {_names(elsewhere)} in {', '.join(paths)}, and on its base it "
                              f"changes {_names(sorted(wanted)) or 'nothing'}", misplaced=True)  # fmt: skip
        return Merged(tree)

    def _changed_python(self, before: str, after: str) -> set[str]:
        names = self.git("diff", "--name-only", "--no-renames", "-z", before, after).split("\0")
        return {name for name in names if name.endswith(".py")}

    def contents(self, tree: str, paths: Sequence[str]) -> dict[str, bytes]:
        """The contents of those of `paths` that a tree holds."""
        return self._contents((tree,), paths)[0]

    def _texts(self, trees: Sequence[str], paths: Sequence[str]) -> list[dict[str, str]]:
        """For each tree the texts of those of `paths` that it holds."""
        return [
            {path: content.decode("utf-8", "replace") for path, content in found.items()}
            for found in self._contents(trees, paths)
        ]

    def _contents(self, trees: Sequence[str], paths: Sequence[str]) -> list[dict[str, bytes]]:
        """For each tree, in one call; see git-cat-file(1), "BATCH OUTPUT"."""
        with self._asking([f"{tree}:{path}" for tree in trees for path in paths]) as asked:
            said = memoryview(self.git.raw("cat-file", "--batch", stdin=asked))
        found: list[dict[str, bytes]] = []
        at = 0
        for _tree in trees:
            found.append({})
            for path in paths:
                end = at + bytes(said[at : at + 4096]).index(b"\n")
                head = bytes(said[at:end])
                at = end + 1
                if not head.endswith(b" missing"):
                    size = int(head.rpartition(b" ")[2])
                    found[-1][path] = bytes(said[at : at + size])
                    at += size + 1
        return found


def split_author(author: str) -> tuple[str, str]:
    """Name and address of a decoded `From` header. Once decoded, a name may hold what had to be quoted or encoded
    before, a comma above all, so that the rules of mail addresses hold no more."""
    found = re.fullmatch(r"(.*?)\s*<([^<>]*)>\s*", author, re.DOTALL)
    if found is None:
        return parseaddr(author)
    name = found[1]
    if len(name) > 1 and name.startswith('"') and name.endswith('"'):
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    return name, found[2]


def _names(definitions: list[str]) -> str:
    return ", ".join(name or "the module" for name in definitions)


def _reasons(patch: Patch, stderr: str) -> list[str]:
    """git's words for why a patch fails, each with its hunk named."""
    words = []
    for line in stderr.splitlines():
        text = line.removeprefix("error: ").strip()
        if failed := re.fullmatch(r"patch failed: (.+):(\d+)", text):
            words.append(f"{hunk_at(patch.changes, failed[1], int(failed[2]))} does not fit")
        elif line.startswith(("error: ", "fatal: ")) and text != "while searching for:":
            words.append(text)
    return words


def _conflicting_files(output: str) -> str:
    """The files that `git merge-tree` names as in conflict."""
    files = re.findall(r"(?m)^[0-7]{6} [0-9a-f]{40,64} [123]\t(.+)$", output)
    return ", ".join(dict.fromkeys(files)) or output.strip()


def read_file(git: GitDir, commit: str, path: str) -> bytes:
    """The content of a file of a commit or tree."""
    return git.raw("cat-file", "blob", f"{commit}:{path}")
