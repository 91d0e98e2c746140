# SPDX-License-Identifier: Apache-2.0
"""Which of the library's own test files belong to files of the library."""

from __future__ import annotations

import re
from collections.abc import Sequence

# From a file's place below src/<package> to where upstream keeps its tests; the first that is there counts.
_PLACES = (
    (r"models/(?P<model>\w+)/(?:modular|modeling)_(?P<name>\w+)\.py", ["tests/models/{model}/test_modeling_{name}.py"]),
    (r"models/(?P<model>\w+)/(?P<name>\w+)\.py", ["tests/models/{model}/test_{name}.py"]),
    (r"(?P<folder>\w+)/(?:\w+/)*(?P<name>\w+)\.py", ["tests/{folder}/test_{name}.py"]),
    (r"(?P<name>\w+)\.py", ["tests/utils/test_{name}.py", "tests/{name}/test_{name}.py", "tests/test_{name}.py"]),
)


def library_tests(paths: Sequence[str], package: str) -> list[list[str]]:
    """For each file of the library among `paths`, the places where its tests may lie, likeliest first; each once."""
    found: list[list[str]] = []
    for path in paths:
        inside = path.removeprefix(f"src/{package}/")
        if inside == path:
            continue
        for pattern, places in _PLACES:
            match = re.fullmatch(pattern, inside)
            if match:
                names = [place.format(**match.groupdict()) for place in places]
                found += [names] if names not in found else []
                break
    return found
