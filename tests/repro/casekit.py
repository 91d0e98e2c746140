# SPDX-License-Identifier: Apache-2.0
"""What all cases share: how a case says what it found, and how it runs under plain python.

Only the standard library is imported with this module. A case imports the library inside `run`, so that an import that
fails is judged like any other failure of the case.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

LIBRARY = "transformers"
# The exit statuses that `git bisect run` understands.
GOOD, BAD, CANNOT_TELL = 0, 1, 125


class Absent(Exception):
    """The feature that the case is about does not exist in this tree."""

    headwater_outcome = "absent"


class Bug(AssertionError):
    """The bug shows in a value, where the library raised nothing."""


def absent(reason: str) -> NoReturn:
    """End the case: the feature is not there, because of `reason`."""
    raise Absent(reason)


def bug(message: str) -> NoReturn:
    """End the case: the bug was seen, as `message` says. The case lists a signature of type "Bug" for it."""
    raise Bug(message)


def require(holds: bool, otherwise: str) -> None:
    """End the case as a failure of another kind, `otherwise`, unless what its verdict rests on holds."""
    if not holds:
        raise AssertionError(otherwise)


def main(run: Callable[[str], None], case_file: str) -> NoReturn:
    """Run the case on the device HEADWATER_DEVICE (default cpu), print one line, exit with what was found."""
    # Whatever goes wrong here, the interpreter's own status for a crash, 1, must not pass for BAD.
    status, line = CANNOT_TELL, "harness error: the case could not be judged"
    try:
        status, line = judge(run, read_metadata(Path(case_file)))
    except Exception:
        traceback.print_exc()
    print(" ".join(line.split()))
    sys.exit(status)


def judge(run: Callable[[str], None], metadata: dict[str, Any]) -> tuple[int, str]:
    """The exit status and the line to print for one run of a case."""
    device = os.environ.get("HEADWATER_DEVICE", "cpu")
    if device.partition(":")[0] not in metadata.get("devices", [device.partition(":")[0]]):
        return CANNOT_TELL, f"unavailable: {metadata['id']} tells on {', '.join(metadata['devices'])} alone"
    try:
        run(device)
    except Absent as exc:
        return CANNOT_TELL, f"absent: {exc}"
    # An exit from within the library must not pass its own status off as a verdict either.
    except (Exception, SystemExit) as exc:
        frame = library_frame(exc)
        seen = f"{type(exc).__name__}: {exc}" + (f" ({frame})" if frame else "")
        if any(matches(signature, exc, frame) for signature in metadata["signature"]):
            return BAD, f"bad: {seen}"
        traceback.print_exc()
        return CANNOT_TELL, f"other failure: {seen}"
    return GOOD, f"good: {metadata['id']} not seen"


def read_metadata(case_file: Path) -> dict[str, Any]:
    """The TOML in the comment block of a case, between `# /// case` and `# ///`."""
    import tomllib  # here, because an interpreter without it (3.10) can still run a case through a probe

    lines = case_file.read_text(encoding="utf-8").splitlines()
    start = lines.index("# /// case") + 1
    block = lines[start : lines.index("# ///", start)]
    return tomllib.loads("\n".join(line.removeprefix("#").removeprefix(" ") for line in block))


def matches(signature: dict[str, str], exc: BaseException, frame: str) -> bool:
    """Whether `signature` describes `exc`, raised at the library's `frame` ("" if not raised there)."""
    return (
        type(exc).__name__ == signature["type"]
        and re.search(signature["message"], str(exc)) is not None
        and re.search(signature.get("frame", ""), frame) is not None
    )


def library_frame(exc: BaseException) -> str:
    """The deepest frame in the library, as `package/file.py:742 in function`, or ""."""
    package_file = getattr(sys.modules.get(LIBRARY), "__file__", None)
    if package_file is None:
        return ""
    # Not resolved: the files of a tree may be links to ones that several trees share.
    package = Path(package_file).absolute().parent
    for entry in reversed(traceback.extract_tb(exc.__traceback__)):
        path = Path(entry.filename).absolute()
        if package in path.parents:
            return f"{path.relative_to(package.parent).as_posix()}:{entry.lineno} in {entry.name}"
    return ""
