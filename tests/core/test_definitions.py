# SPDX-License-Identifier: Apache-2.0
"""Which definitions a change touches: by name, each for its own statements, wherever the file lies."""

from __future__ import annotations

import pytest

from headwater.core.definitions import touched_definitions

TEXT = """\
import os


class Layer:
    size = 1

    def update(self):
        return 1

    if os:
        def reset(self):
            return 2


def free():
    def inner():
        return 3
    return inner
"""


@pytest.mark.parametrize(
    ("old", "new", "touched"),
    [
        ("import os", "import os, re", {""}),
        ("size = 1", "size = 2", {"Layer"}),
        ("return 1", "return 9", {"Layer.update"}),
        ("return 2", "return 9", {"Layer.reset"}),
        ("return 3", "return 9", {"free.inner"}),
        ("return inner", "return None", {"free"}),
        ("def update(self)", "def update(self, more)", {"Layer.update"}),
        ("    def update(self)", "    @cached\n    def update(self)", {"Layer.update"}),
        ("class Layer:", "class Layer(Base):", {"Layer"}),
        (
            "class Layer:", "class Other:",
            {"Layer", "Layer.update", "Layer.reset", "Other", "Other.update", "Other.reset"},
        ),
        ("import os\n", "import os  # a comment\n\n", set()),
    ],
)  # fmt: skip
def test_what_a_change_touches(old: str, new: str, touched: set[str]) -> None:
    assert TEXT.count(old) == 1
    changed = TEXT.replace(old, new)
    assert touched_definitions([TEXT], [changed]) == touched
    assert touched_definitions([changed], [TEXT]) == touched


def test_one_of_two_definitions_of_one_name() -> None:
    twice = TEXT + TEXT
    assert touched_definitions([twice], [TEXT + TEXT.replace("return 1", "return 9")]) == {"Layer.update"}


def test_what_goes_to_another_file_is_not_touched() -> None:
    assert touched_definitions([TEXT, ""], ["", TEXT]) == set()
    assert touched_definitions([TEXT], ["", TEXT.replace("return 1", "return 9")]) == {"", "Layer.update"}
    assert touched_definitions([], [TEXT]) == {"", "Layer", "Layer.update", "Layer.reset", "free", "free.inner"}


def test_broken_python() -> None:
    with pytest.raises(SyntaxError):
        touched_definitions([TEXT], ["def ("])
