# SPDX-License-Identifier: Apache-2.0
"""What is probed of a series' patches: the cases that they name, and the tests that they bring."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from headwater.commands.context import Context
from headwater.core.cases import Case
from headwater.core.errors import BadInput
from headwater.core.mail import Patch
from headwater.effects.merging import read_file
from headwater.effects.series_folder import Series
from headwater.effects.workspace import packaged_case


def require_known_cases(series: Series, known: Collection[str]) -> None:
    """Refuse a series that names a case which is not there.

    Raises:
        BadInput: it does.
    """
    unknown = sorted({case for patch in series.patches for case in patch.cases} - set(known))
    if unknown:
        raise BadInput(f"series {series.name} names the case {unknown[0]}, and there is none of that id")


def own_tests(context: Context, patch: Patch, commit: str) -> Case:
    """A patch's own test files, as a commit has them, as a case: the packaged runner, with the files beside it."""
    files = {path.rpartition("/")[2]: read_file(context.mirror.git, commit, path) for path in patch.tests}
    return replace(packaged_case("patch_tests.py", files), id=f"tests:{patch.file.removesuffix('.patch')}")
