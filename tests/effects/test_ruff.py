# SPDX-License-Identifier: Apache-2.0
"""What ruff says, by the settings that it is given and by no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.core.errors import HarnessError
from headwater.effects.ruff import PLAIN_SETTINGS, Complaint, complaints, ruff_version

CLEAN = b'"""Words."""\n\nimport os\n\n\nprint(os.name)\n'


def codes(folder: Path, settings: bytes, files: dict[str, bytes]) -> dict[tuple[str, str], int]:
    return {(one.path, one.code): count for one, count in complaints(folder, settings, files).items()}


def test_nothing_against_what_is_clean(tmp_path: Path) -> None:
    assert codes(tmp_path, PLAIN_SETTINGS, {"src/lib/a.py": CLEAN, "README.md": b"x=1"}) == {}


def test_rules_layout_and_syntax(tmp_path: Path) -> None:
    files = {
        "a.py": b"import os\nimport sys\n", "b.py": b"x=1\n", "c.py": b"def f(:\n",
        "d.py": b"x = '" + b"d" * 119 + b"'\n",
    }  # fmt: skip
    found = codes(tmp_path, PLAIN_SETTINGS, files)
    assert ("a.py", "F401") in found
    assert ("b.py", "format") in found
    assert ("c.py", "invalid-syntax") in found
    assert ("c.py", "format") not in found


def test_the_settings_count(tmp_path: Path) -> None:
    for name, settings, wanted in (
        ("one", b'[tool.ruff]\nlint.select = ["F"]\n', {"F401"}),
        ("two", b'[tool.ruff]\nlint.select = ["E"]\nline-length = 20\n', {"E501"}),
        ("three", b'[tool.ruff]\nlint.select = ["F"]\nlint.per-file-ignores = {"src/*" = ["F401"]}\n', set()),
    ):
        (tmp_path / name).mkdir()
        found = codes(tmp_path / name, settings, {"src/a.py": b'import os\n\nx = "a very long line"\n'})
        assert {code for _path, code in found} == wanted


def test_settings_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="NOPE1"):
        complaints(tmp_path, b'[tool.ruff]\nlint.select = ["NOPE1"]\n', {"a.py": CLEAN})


def test_two_of_a_kind_are_two(tmp_path: Path) -> None:
    found = complaints(tmp_path, PLAIN_SETTINGS, {"a.py": b"x = None == x\ny = None == y\n"})
    assert found[Complaint("a.py", "E711", "Comparison to `None` should be `cond is None`")] == 2


def test_the_version() -> None:
    assert ruff_version()[0].isdigit()
