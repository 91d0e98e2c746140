# SPDX-License-Identifier: Apache-2.0
"""A carry that stopped: the work tree in which a person resolves a patch, and what is to be gone on with.

The session lies in the git directory of the work tree, so that both go together, and the patches that are done are
ancestors of its HEAD, so that no repacking loses them.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from headwater.core.errors import BadInput, HarnessError
from headwater.effects.checkouts import lay_out_checkout
from headwater.effects.files import write_atomically
from headwater.effects.git import GitDir
from headwater.effects.workspace import Cache

_FILE = "headwater-carry.json"
SCHEMA = 1
_MARKER = re.compile(rb"(?m)^(<{7}|>{7}|\|{7})( |$)")


@dataclass(frozen=True)
class Session:
    """`series` is carried to `release` as the variant `folder`. `done` are the commits by patch so far (None: already
    applied there), `written` those of them that the variant will hold; `patch` is the one to resolve, on top of the
    commit `onto`."""

    series: str
    release: str
    folder: str
    done: dict[str, str | None]
    written: tuple[str, ...]
    patch: str
    onto: str


class CarryTree:
    """The work tree of a carry, at `path`, whether it is there or not."""

    def __init__(self, git: GitDir, cache: Cache, path: Path) -> None:
        self._git, self._cache, self.path = git, cache, path

    @property
    def is_there(self) -> bool:
        """Whether a carry stopped here."""
        return (self.path / ".git").is_file()

    def session(self) -> Session:
        """What the carry is about.

        Raises:
            BadInput: none stopped here.
        """
        if not self.is_there:
            raise BadInput(f"no carry has stopped at {self.path}; begin one without --continue")
        file = self._gitdir / _FILE
        if not file.is_file():
            raise BadInput(f"the carry at {self.path} was killed before it stopped; give it up with --abort")
        data = json.loads(file.read_text(encoding="utf-8"))
        if data.pop("schema", None) != SCHEMA:
            raise HarnessError(f"{file} is of another schema; `headwater patch carry --abort` removes the carry")
        return Session(**{**data, "written": tuple(data["written"])})

    def stop(self, session: Session, tree: str) -> None:
        """Show `tree`, a merge with or without conflict markers, as edits on top of the session's `onto`."""
        if not self.is_there:
            lay_out_checkout(self._git, self._cache, self.path, session.onto)
        here = GitDir(self._gitdir)
        here("checkout", "--quiet", "--force", "--detach", session.onto, work_tree=self.path)
        here("restore", f"--source={tree}", "--worktree", "--", ":/", work_tree=self.path)
        text = json.dumps({"schema": SCHEMA, **asdict(session)}, indent=2) + "\n"
        write_atomically(self._gitdir / _FILE, text)

    def edited_tree(self, session: Session) -> str:
        """The tree that the person has made.

        Raises:
            BadInput: conflict markers are left; the files are named.
        """
        with self._cache.building("carry") as folder:
            index = folder / "index"
            here = GitDir(self._gitdir)
            here("read-tree", session.onto, index=index)
            here("add", "--all", "--", ":/", index=index, work_tree=self.path)
            tree = here("write-tree", index=index)
        changed = [path for path in self._git("diff", "--name-only", "-z", session.onto, tree).split("\0") if path]
        left = [path for path in changed if (self.path / path).is_file() and _MARKER.search(self._read(path))]
        if left:
            named = ", ".join(str(self.path / path) for path in left)
            raise BadInput(f"conflict markers are left in {named}; write there what it should be, and --continue again")
        return tree

    def remove(self) -> None:
        """Take the work tree away, edits included."""
        # Twice: git locks a work tree while it makes it, and where that was killed it stays locked.
        self._git("worktree", "remove", "--force", "--force", self.path)

    def _read(self, path: str) -> bytes:
        return (self.path / path).read_bytes()

    @property
    def _gitdir(self) -> Path:
        """See gitrepository-layout(5): in a work tree `.git` is a file that names its git directory."""
        return Path((self.path / ".git").read_text(encoding="utf-8").removeprefix("gitdir: ").strip())
