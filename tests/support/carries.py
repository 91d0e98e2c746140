# SPDX-License-Identifier: Apache-2.0
"""Releases and series for the commands that change series, and `headwater patch` on them as a process."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grounds import Grounds, text

METHODS = b"    def update(self):\n" + b"".join(b"        n%d = %d\n" % (n, n) for n in range(1, 8))
TWINS = b"class First:\n" + METHODS + b"\n\nclass Second:\n" + METHODS
MENDED = b"class First:\n" + METHODS + b"\n\nclass Second:\n" + METHODS.replace(b"n4 = 4", b"n4 = 44")
A, TWIN, CRLF = "transformers/a.py", "transformers/twins.py", "transformers/crlf.py"


def release(version: str, **changes: bytes) -> dict[str, bytes]:
    """A release's files, some lines of the first replaced."""
    return {
        "transformers/__init__.py": f"__version__ = '{version}'\n".encode(), A: text(**changes), TWIN: TWINS,
        CRLF: b"x = 1\r\ny = 2\r\n", "transformers/data.bin": bytes(range(256)),
        "transformers/old.py": b"old = 1\n" * 5, "transformers/gone.py": b"gone = 1\n",
    }  # fmt: skip


def _renamed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name.replace("a.py", "renamed.py") if name == A else name: content for name, content in files.items()}


RELEASES = {
    "5.0.0": release("5.0.0"),
    "5.1.0": {**release("5.1.0"), A: b"top = 1\n" * 9 + text()},  # offset
    "5.2.0": release("5.2.0", l4=b"other"),  # the first by reduced context
    "5.3.0": _renamed(release("5.3.0")),  # three-way
    "5.4.0": release("5.4.0", l20=b"other"),  # the second conflicts
    "5.4.1": release("5.4.1", l20=b"other"),
    "5.4.2": release("5.4.2", l20=b"other"),
    "5.5.0": release("5.5.0", l20=b"other", l38=b"other"),  # the second and the third conflict
    "5.6.0": {**release("5.6.0"), TWIN: b"class First:\n" + METHODS},  # the twin is gone
    "5.7.0": release("5.7.0", l6=b"second", l20=b"twentieth", l38=b"last"),  # applied already
}
SERIES = ("0001-Change-1.patch", "0002-Change-2.patch", "0003-Change-3.patch")


def write_series(grounds: Grounds) -> None:
    """`mend` changes a line a patch; `twins` the second of two classes that are alike."""
    base = grounds.sources("5.0.0")
    lines = {"l6": b"second", "l20": b"twentieth", "l38": b"last"}
    states = [{**base, f"src/{A}": text(**dict(list(lines.items())[:n]))} for n in (1, 2, 3)]
    grounds.series("mend", "5.0.0", states)
    grounds.series("twins", "5.0.0", [{**base, f"src/{TWIN}": MENDED}])


# Runs `headwater WORDS`, and kills itself at the step number MOMENT that changes anything outside: a file opened for
# writing, renamed or removed, a process started. It prints how many there were on standard error.
KILLED = """
import os, signal, sys
STEPS = {"os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "subprocess.Popen"}
os.chdir(sys.argv[1])
moment, seen = int(sys.argv[2]), 0

def hook(event, arguments):
    global seen
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if writes or event in STEPS:
        seen += 1
        if seen == moment:
            os.kill(os.getpid(), signal.SIGKILL)

from headwater.cli import main
sys.argv = ["headwater", *sys.argv[3:]]
sys.addaudithook(hook)
try:
    sys.exit(main())
finally:
    print(seen, file=sys.stderr, flush=True)
"""


@dataclass
class Carries:
    """The grounds, and `headwater patch` there."""

    grounds: Grounds
    run: Callable[..., Any]

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.grounds.root

    @property
    def mend(self) -> Path:
        """The folder of the series `mend`."""
        return self.root / "patches" / "mend"

    def patch(self, *words: str | Path, status: int = 0) -> Any:
        """Run `headwater patch WORDS`; it must end with `status`, and without a traceback."""
        done = self.run("patch", *words, cwd=self.root, environ={"HEADWATER_CACHE": os.environ["HEADWATER_CACHE"]})
        assert done.status == status, (done.out, done.err)
        assert "Traceback" not in done.err
        return done

    def states(self, release: str, series: str = "mend") -> list[str]:
        """The states of a series' patches on a release."""
        done = self.run(
            "patch", "status", series, "--releases", release, "--json",
            cwd=self.root, environ={"HEADWATER_CACHE": os.environ["HEADWATER_CACHE"]},
        )  # fmt: skip
        assert done.status in (0, 1), done.err
        return [one["state"] for one in done.json["series"][0]["releases"][0]["states"]]

    def killed_at(self, moment: int, *words: str) -> int | None:
        """Run `headwater patch WORDS` and kill it at a step; the number of its steps, None where it was killed."""
        ended = self.grounds.run(KILLED, moment, "patch", *words)
        return None if ended.status == -signal.SIGKILL else int(ended.err.split()[-1])

    def have(self, series: str, files: Mapping[str, bytes]) -> None:
        """Have a series with exactly these files; without files there is none."""
        restore(self.root / "patches" / series, files)

    def tree(self, release: str, series: str = "mend") -> Path:
        """Where a carry stops."""
        return self.root / "upstream" / "checkouts" / f"{series}-onto-{release}"

    def a_case(self, number: int, verdict: str, release: str) -> None:
        """Let a patch of `mend` mend a case of which the atlas knows the verdict on a release."""
        path = self.mend / SERIES[number - 1]
        content = path.read_bytes().replace(b"Why it is so.\n", b"Why it is so.\n\nHeadwater-Case: one\n")
        path.write_bytes(content)
        atlas = self.root / "tests" / "repro" / "atlas.toml"
        entry = f'\n[[entry]]\ncase = "one"\nverdict = "{verdict}"\nfirst = "{release}"\nlast = "{release}"\n'
        atlas.write_text("schema = 1\n" + entry, encoding="utf-8")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def restore(folder: Path, files: Mapping[str, bytes]) -> None:
    """Have exactly these files below a folder."""
    if folder.exists():
        shutil.rmtree(folder)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
