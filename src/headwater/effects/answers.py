# SPDX-License-Identifier: Apache-2.0
"""The last answer of each kind about each case, kept beside the store, so that a report can show it.

A reduction holds lines of the library: what is kept here lies in the caches, which are never committed.
"""

from __future__ import annotations

from pathlib import Path

from headwater.core.answers import HuntAnswer, ReductionAnswer, read_answer
from headwater.core.cases import is_case_id
from headwater.core.errors import BadInput
from headwater.effects.files import write_atomically
from headwater.effects.workspace import Cache

Answer = HuntAnswer | ReductionAnswer


def keep_answer(cache: Cache, case: str, device: str, text: str) -> None:
    """Keep the JSON object of a hunt or a reduction, in place of an earlier one about the same case and device. What a
    user hunts that is no case, e.g. a script, has no page in a report, and is not kept."""
    if not is_case_id(case):
        return
    for answer in read_answer(text, "the answer"):
        kind = f"hunt-{answer.find}" if isinstance(answer, HuntAnswer) else "reduction"
        folder = cache.answers / case
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{kind}-{device.replace(':', '-')}.json", text)


def kept_answers(cache: Cache) -> list[Answer]:
    """Everything that is kept, by case, kind and device.

    Raises:
        BadInput: a file cannot be read; it is named.
    """
    return [answer for path in sorted(cache.answers.glob("*/*.json")) for answer in read_file(path)]


def read_file(path: Path) -> list[Answer]:
    """The answers in a file that `--output` wrote.

    Raises:
        BadInput: there is none, or it holds no answer.
    """
    try:
        return list(read_answer(path.read_text(encoding="utf-8"), str(path)))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error})") from error
