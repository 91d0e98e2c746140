# SPDX-License-Identifier: Apache-2.0
"""What the tests of `reduce` and `backport` on the small library ask, and what the answers are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hunting_ground import Ground, Ran, case_source, git

# One environment for both, and the same three hunks.
NEAR = ("5.2.1", "5.2.2")
CAUSE = [
    ("transformers/parted.py", "@@ -5 +5 @@"),
    ("transformers/parted.py", "@@ -12 +12 @@"),
    ("transformers/parts.py", "@@ -7 +7 @@"),
]
MEND = [("transformers/parted.py", "@@ -13,0 +14,4 @@"), ("transformers/parted.py", "@@ -33 +37 @@")]
WITHIN = """
    import time
    from pathlib import Path

    begun, wait = Path({folder!r}, "begun"), Path({folder!r}, "wait")
    with begun.open("a") as file:
        file.write("x")
    count = begun.stat().st_size
    while count >= {at} and wait.exists():
        time.sleep(0.01)
    try:
        parted.use()
    except RuntimeError:
        if not {lies}:
            raise
"""


def reduced(ground: Ground, what: str | Path, ends: tuple[str, str], *words: str | Path) -> Ran:
    """`headwater reduce WHAT --from .. --to .. --json`."""
    done = ground.run("reduce", what, "--from", ends[0], "--to", ends[1], *words, "--json")
    assert "Traceback" not in done.err, done.err
    return done


def hunks(answer: Any) -> list[tuple[str, str]]:
    """The hunks of an answer."""
    return [(hunk["file"], hunk["header"]) for hunk in answer["hunks"]]


def counting_case(ground: Ground, at: int = 10**9, lies: str = "False") -> Path:
    """A case `counted` of `parted` that counts its runs in a file, waits from the one `at` on as long as there is a
    file beside, and hides the bug where `lies` holds; the file's folder."""
    folder = ground.here / "runs"
    folder.mkdir()
    (folder / "begun").touch()
    (folder / "wait").touch()
    text = case_source("parted").replace('id = "parted"', 'id = "counted"')
    text = text.replace("    parted.use()\n", WITHIN.format(folder=str(folder), at=at, lies=lies).lstrip("\n"))
    (ground.root / "tests" / "repro" / "counted.py").write_text(text, encoding="utf-8")
    return folder


def runs(folder: Path) -> int:
    """How often the case ran."""
    return (folder / "begun").stat().st_size


def laid_out(ground: Ground) -> set[str]:
    """The trees in the cache that are no release's."""
    mirror = ground.cache / "transformers.git"
    names = git(mirror, "for-each-ref", "--format=%(refname)", "refs/headwater/releases").splitlines()
    releases = {git(mirror, "rev-parse", f"{name}:src/transformers") for name in names}
    trees = {path.name for path in (ground.cache / "trees").iterdir() if re.fullmatch("[0-9a-f]{40}", path.name)}
    assert trees & releases
    return trees - releases
