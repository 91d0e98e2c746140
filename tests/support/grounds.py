# SPDX-License-Identifier: Apache-2.0
"""A workspace, a mirror of small releases, and work trees of persons, for the commands that change trees."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from forking import PACKAGE, Ended, run_code
from index_server import IndexServer
from packaging.version import Version

from headwater.commands.context import Context
from headwater.commands.patch.apply import apply
from headwater.commands.patch.undo import undo
from headwater.core.events import Event
from headwater.core.pins import Pin
from headwater.core.pins_text import add_releases, set_values
from headwater.core.series_text import file_name, new_series
from headwater.core.tree_results import ApplyReport, UndoReport
from headwater.effects.checkouts import lay_out_checkout
from headwater.effects.git import GitDir
from headwater.effects.patch_text import patch_text

Files = Mapping[str, bytes]
T = TypeVar("T")
HEAD = 'schema = 1\npackage = "transformers"\nfirst = "5.0.0"\ntorch = "2.13.0"\n'
SETTINGS = ("-c", "user.name=Somebody", "-c", "user.email=somebody@invalid.example", "-c", "init.defaultBranch=main")

LINES = [b"line_%d = %d\n" % (n, n) for n in range(1, 41)]
INIT = b"__version__ = '5.0.0'\n"


def text(**changes: bytes) -> bytes:
    """Forty lines, some replaced: `text(l2=b"two")`."""
    return b"".join(changes.get(f"l{n}", line.rstrip()) + b"\n" for n, line in enumerate(LINES, 1))


RELEASE = {
    "transformers/__init__.py": INIT,
    "transformers/a.py": text(),
    "transformers/b.py": b"untouched = 1\n",
    "transformers/crlf.py": b"x = 1\r\ny = 2\r\n",
    "transformers/bare.py": b"no_end = 1",
    "transformers/old/gone.py": b"gone = 1\n",
    "transformers/tool.py": b"#!/usr/bin/env python\n" * 4,
    "transformers/data.bin": bytes(range(256)),
}
SOURCES = {f"src/{name}": content for name, content in RELEASE.items()}
ONE = {**SOURCES, "src/transformers/a.py": text(l2=b"second")}
TWO = {
    **{
        name: content
        for name, content in ONE.items()
        if name not in ("src/transformers/old/gone.py", "src/transformers/tool.py")
    },
    "src/transformers/a.py": text(l2=b"second", l30=b"thirtieth"),
    "src/transformers/crlf.py": b"x = 1\r\ny = 3\r\n",
    "src/transformers/bare.py": b"no_end = 2",
    "src/transformers/tool.py*": RELEASE["transformers/tool.py"],
    "src/transformers/data.bin": bytes(reversed(range(256))),
}
THREE = {
    **{name: content for name, content in TWO.items() if name != "src/transformers/b.py"},
    "src/transformers/moved/b.py": b"untouched = 1\n",
    "src/transformers/fresh/deep/new.py": b"new = 1\n",
    "tests/utils/test_a.py": b"def test(): pass\n",
}

MORE = {
    "README.md": b"upstream\n", "docs/index.md": b"docs\n", "tests/test_old.py": b"def test(): pass\n",
    ".gitignore": b"*.log\nbuild/\n",
}  # fmt: skip


def git(folder: Path, *words: str | Path, **environ: str) -> str:
    """Plain git, not by our door."""
    done = subprocess.run(
        ["git", *SETTINGS, *map(str, words)],
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode(errors="surrogateescape").removesuffix("\n")


def write_files(folder: Path, files: Files) -> None:
    """Write files; one whose name ends in "*" is executable, without the star."""
    for name, content in files.items():
        path = folder / name.removesuffix("*")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if name.endswith("*") else 0o644)


def make_state(folder: Path, files: Files) -> None:
    """Have exactly these files in a work tree, and in its index."""
    for path in [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts]:
        path.unlink()
    for path in sorted((path for path in folder.iterdir() if path.name != ".git"), reverse=True):
        shutil.rmtree(path)
    write_files(folder, files)
    git(folder, "add", "--all", "--force")


@dataclass
class Grounds:
    """The workspace at `root`; `releases` by version, files below the archive's root (`transformers/...`)."""

    root: Path
    index: IndexServer
    events: list[Event] = field(default_factory=list)
    releases: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def add_releases(self, releases: Mapping[str, Files]) -> None:
        """Pin releases, with their tree ids, and import them."""
        pins = []
        for version, files in releases.items():
            wheel = self.index.add("transformers", version, files)
            pins.append(Pin(Version(version), datetime(2026, 5, 1, tzinfo=UTC), ">=3.10", None, wheel, None))
            self.releases[version] = dict(files)
        path = self.root / "upstream" / "transformers.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.root / "tests" / "repro").mkdir(parents=True, exist_ok=True)
        path.write_text(add_releases(HEAD, pins), encoding="utf-8")
        trees = {pin.version: {"tree": self.with_context(partial(self.tree_id, pin))} for pin in pins}
        path.write_text(set_values(path.read_text(encoding="utf-8"), trees), encoding="utf-8")

    @staticmethod
    def tree_id(pin: Pin, context: Context) -> str:
        """The id of a release's library."""
        return context.mirror.library_tree(context.mirror.ensure(pin))

    def with_context(self, action: Callable[[Context], T]) -> T:
        """Do something as one run of a command."""
        with ExitStack() as exits:
            return action(Context(self.root, self.events.append, offline=False, exits=exits))

    def series(self, name: str, base: str, states: Sequence[Files], subjects: Sequence[str] = ()) -> list[Path]:
        """Write a series that leads from a release's files through `states`, each the files as in a work tree."""
        author = self.root.parent / f"author-{name}"
        author.mkdir()
        git(author, "init", "--quiet")
        git(author, "config", "core.autocrlf", "false")
        make_state(author, self.sources(base))
        git(author, "commit", "--quiet", "--allow-empty", "-m", "base")
        folder = self.root / "patches" / name
        folder.mkdir(parents=True)
        files = []
        for number, files_then in enumerate(states, 1):
            subject = subjects[number - 1] if subjects else f"Change {number}"
            make_state(author, files_then)
            when = {"GIT_AUTHOR_DATE": f"2026-02-{number:02d}T03:04:05+0530", "GIT_AUTHOR_NAME": "Zoë, the Ångström"}
            git(author, "commit", "--quiet", "-m", f"{subject}\n\nWhy it is so.", **when)
            files.append(folder / file_name(number, subject))
            files[-1].write_bytes(patch_text(GitDir(author / ".git"), "HEAD"))
        tree = git(author, "rev-parse", f"HEAD~{len(states)}:src/transformers")
        text = new_series(base, tree, tuple(path.name for path in files), f"{name}: a comment.\nAnd one more.")
        (folder / "series").write_text(text, encoding="utf-8")
        return files

    def sources(self, version: str) -> dict[str, bytes]:
        """A release's files as they lie in a work tree."""
        return {f"src/{name}": content for name, content in self.releases[version].items()}

    def checkout(self, version: str) -> Path:
        """A checkout of the mirror."""
        target = self.root / "upstream" / "checkouts" / version

        def make(context: Context) -> None:
            pin = context.workspace.pins.find(version)
            lay_out_checkout(context.mirror.git, context.cache, target, context.mirror.ensure(pin))

        self.with_context(make)
        return target

    def clone(self, version: str, more: Files, name: str = "clone") -> Path:
        """A person's own repository with a release's files and more, as one commit on the branch main."""
        target = self.root.parent / name
        target.mkdir()
        git(target, "init", "--quiet")
        make_state(target, {**self.sources(version), **more})
        when = "2026-01-02T03:04:05+0000"
        git(target, "commit", "--quiet", "-m", "upstream", GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
        return target

    def mirror(self) -> Path:
        """The mirror."""
        return self.with_context(lambda context: context.cache.mirror)

    @property
    def surroundings(self) -> dict[str, str]:
        """The variables of a process that may use the workspace."""
        return {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, code: str, *words: object) -> Ended:
        """Run python on code that may use the workspace."""
        return run_code(code, [str(self.root), *map(str, words)], self.surroundings)

    def start(self, code: str, *words: object) -> subprocess.Popen[str]:
        """Start python on code that may use the workspace, in a group of its own."""
        return subprocess.Popen(
            [sys.executable, "-c", code, str(self.root), *map(str, words)], env=self.surroundings, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip


def snapshot(tree: Path) -> dict[str, object]:
    """What must not change: HEAD, its branch, the index with its flags, every file and folder but git's own."""
    found: dict[str, object] = {
        "HEAD": git(tree, "rev-parse", "HEAD"),
        "branch": git(tree, "rev-parse", "--abbrev-ref", "HEAD"),
        "index": git(tree, "ls-files", "-s", "-v", "-z"),
        "intents": git(tree, "diff", "--cached", "--raw", "--no-abbrev"),
        "lock": (Path(git(tree, "rev-parse", "--absolute-git-dir")) / "index.lock").exists(),
    }
    for place, folders, files in os.walk(tree):
        if ".git" in folders:
            folders.remove(".git")
        for name in [*folders, *files]:
            path = Path(place) / name
            if name == ".git":
                continue
            mode = path.lstat().st_mode
            content = path.read_bytes() if stat.S_ISREG(mode) else path.readlink() if path.is_symlink() else None
            found[str(path.relative_to(tree))] = (mode, content)
    return found


def fsck(repository: Path) -> None:
    """See that a repository lacks nothing and that nothing in it is damaged."""
    git(repository, "fsck", "--full", "--strict", "--no-dangling")


def clone_of(grounds: Grounds, version: str = "5.0.0") -> Path:
    """A person's clone of a release."""
    return grounds.clone(version, MORE)


def checkout_of(grounds: Grounds, version: str = "5.0.0") -> Path:
    """A checkout of a release."""
    return grounds.checkout(version)


def put(grounds: Grounds, tree: Path, name: str = "example") -> ApplyReport:
    """Apply a series."""
    return grounds.with_context(lambda context: apply(context, name, tree))


def take(grounds: Grounds, tree: Path, name: str | None = None) -> UndoReport:
    """Undo a series."""
    return grounds.with_context(lambda context: undo(context, name, tree))


def make_a_mess(tree: Path) -> None:
    """What a person has lying about: edits, staged and not, of files that no patch touches; new and ignored ones."""
    write_files(tree, {
        "src/transformers/__init__.py": INIT + b"mine = 1\n", "src/transformers/scratch.py": b"scratch = 1\n",
        "notes.log": b"ignored\n", "src/transformers/staged.py": b"staged = 1\n", "tests/mine/test_mine.py": b"",
        "intent.py": b"intent = 1\n",
    })  # fmt: skip
    git(tree, "add", "src/transformers/staged.py")
    write_files(tree, {"src/transformers/staged.py": b"staged = 2\n"})
    git(tree, "add", "--intent-to-add", "intent.py")
    git(tree, "update-index", "--assume-unchanged", "src/transformers/__init__.py")
    (tree / "empty").mkdir()
    (tree / "link").symlink_to("nowhere")


def edit_in_the_index_s_second(tree: Path, name: str, content: bytes) -> None:
    """Edit a file within the second in which the index was written, and at the same size: git knows it by its time
    alone, which is the index's. (It was a while ago.)"""
    git(tree, "config", "core.trustCtime", "false")
    file, then = tree / name, (tree / name).stat().st_mtime_ns - 10**10
    assert file.stat().st_size == len(content)
    os.utime(file, ns=(then, then))
    git(tree, "update-index", "--refresh")
    file.write_bytes(content)
    for path in (file, tree / ".git" / "index"):
        os.utime(path, ns=(then, then))


# Runs one command, and kills itself before the step number MOMENT of the move that changes anything outside: a file
# opened for writing, renamed, linked or removed, a process started. It prints how many there were
# before HEAD moves, and beyond the last step how many there were in all.
DRIVER = """
import os, signal, sys
from contextlib import ExitStack
from pathlib import Path
from headwater.commands.context import Context
from headwater.commands.patch.apply import apply
from headwater.commands.patch.refresh import refresh
from headwater.commands.patch.undo import undo
from headwater.effects.moving import Mover

root, tree, what, moment = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
name = sys.argv[5] if sys.argv[5:] else "example"
STEPS = {"os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "os.chmod", "subprocess.Popen"}
seen, armed = 0, False

def hook(event, arguments):
    global seen
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if armed and (writes or event in STEPS):
        seen += 1
        if seen == moment:
            os.kill(os.getpid(), signal.SIGKILL)

move = Mover.move
def watched(self, it):
    global armed
    print("moving", flush=True)
    armed = True
    move(self, it)
    armed = False
    print(seen, flush=True)
Mover.move = watched
decide = Mover.set_head
Mover.set_head = lambda self, journal: (print(seen, flush=True), decide(self, journal))
sys.addaudithook(hook)
with ExitStack() as exits:
    context = Context(root, lambda event: None, offline=True, exits=exits)
    if what == "apply":
        apply(context, name, tree)
    elif what == "undo":
        undo(context, name, tree)
    else:
        refresh(context, name, "1", tree, [])
"""
NEVER = 1_000_000


def steps_of(
    grounds: Grounds, tree: Path, what: str, moment: int = NEVER, name: str = "example"
) -> tuple[int, int] | None:
    """Run a command and kill it at a step; the number of steps that it had before HEAD moved, and in all; None where it
    was killed."""
    ended = grounds.run(DRIVER, tree, what, moment, name)
    assert ended.status in (0, -signal.SIGKILL), ended.err
    if ended.status != 0:
        return None
    before, total = ended.out.split()[-2:]
    return int(before), int(total)
