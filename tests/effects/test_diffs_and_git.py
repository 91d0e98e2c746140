# SPDX-License-Identifier: Apache-2.0
"""What `git apply` takes from a damaged diff is what was read of it: nothing is applied that nobody has looked at."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

from diff_texts import damaged
from hypothesis import HealthCheck, example, given, settings

from headwater.core.diffs import read_diff
from headwater.core.errors import BadInput

X = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


def numbers_of_git(folder: Path, diff: bytes) -> Counter[tuple[int, int, str]] | None:
    """Lines added and removed by file, as `git apply` counts them; None where it refuses the diff."""
    done = subprocess.run(["git", "apply", "--numstat", "-z"], cwd=folder, input=diff, capture_output=True, check=False)
    if done.returncode:
        return None
    rows = [row.split(b"\t", 2) for row in done.stdout.split(b"\0")[:-1]]
    return Counter((int(added), int(removed), name.decode()) for added, removed, name in rows)


def numbers_of_ours(diff: bytes) -> Counter[tuple[int, int, str]] | None:
    try:
        changes = read_diff(diff, "1.patch")
    except BadInput:
        return None
    bodies = [(b"\n" + b"".join(hunk.body for hunk in change.hunks), change.path) for change in changes]
    return Counter((len(re.findall(rb"\n\+", b)), len(re.findall(rb"\n-", b)), path) for b, path in bodies)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(diff=damaged())
@example(diff=X + b"+c\n")
@example(diff=X + b"--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n")
@example(diff=X + b"\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+b\n")
@example(diff=X.replace(b"--- ", b"GIT binary patch\n--- "))
@example(diff=X.replace(b"--- ", b"index 1111111..2222222 100644\n+no header\n--- "))
def test_what_git_takes_is_what_was_read(tmp_path: Path, diff: bytes) -> None:
    # A patch's diff begins here, for git as for us: see `Patch.diff`.
    start = re.search(rb"(?m)^diff --git ", diff)
    diff = diff[start.start() :] if start else b""
    theirs, ours = numbers_of_git(tmp_path, diff), numbers_of_ours(diff)
    if theirs is not None and ours is not None:
        assert ours == theirs
