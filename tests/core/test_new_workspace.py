# SPDX-License-Identifier: Apache-2.0
"""What a new workspace is made of, and what is refused."""

from __future__ import annotations

import tomllib

import pytest
from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.new_workspace import OWN_SESSIONS, About, files_of, in_the_way, shipped_library, steps

PINS = """\
schema = 1
package = "big"
first = "1.0"

[[release]]
version = "1.0"
uploaded = 2026-05-01T10:00:00Z
requires_python = ""
wheel = { file = "big-1.0-py3-none-any.whl", sha256 = "%s", size = 10 }
""" % ("a" * 64)
SHIPPED = {
    "noxfile.py": f"import nox\n\n\n{OWN_SESSIONS}\n\ntests = 1\n".encode(),
    "scripts/headwater.py": b"#!/bin/python\n", "scripts/bisect.py": b"#!/bin/python\n",
    "upstream/big.toml": PINS.encode(), "upstream/locks/1.txt": b"hub==1.0\n", "patches/mend/series": b"base: 1.0\n",
    "tests/repro/casekit.py": b'import os\n\nLIBRARY = "big"\nGOOD = 0\n', "tests/repro/known.py": b"known = 1\n",
}  # fmt: skip
TEMPLATES = {
    "README.md": "$library\n    $begin\n", "gitignore": "/upstream/*\n", "example.txt": "import $library\n",
    "pins.toml": 'schema = 1\npackage = "$library"\nfirst = "$first"\n',
}  # fmt: skip


def test_the_shipped_library_comes_with_all_that_is_shipped() -> None:
    files = files_of(About("big"), SHIPPED, TEMPLATES)
    assert set(files) == {*SHIPPED, "README.md", ".gitignore"}
    assert {place for place in SHIPPED if files[place] != SHIPPED[place]} == {"noxfile.py"}
    assert files["noxfile.py"] == b"import nox\n"
    assert files["README.md"] == b"big\n    headwater audit 1.0\n    headwater repro 1.0\n"
    assert shipped_library(SHIPPED) == "big"


@pytest.mark.parametrize("torch", [None, "2.13.0"])
def test_another_library_gets_pins_without_releases_and_an_example(torch: str | None) -> None:
    about = About("small", Version("0.9"), torch)
    files = files_of(about, SHIPPED, TEMPLATES)
    assert set(files) == {
        ".gitignore", "README.md", "noxfile.py", "scripts/bisect.py", "scripts/headwater.py", "upstream/small.toml",
        "tests/repro/casekit.py", "tests/repro/example.py",
    }  # fmt: skip
    pins = {"schema": 1, "package": "small", "first": "0.9", **({"torch": torch} if torch else {})}
    assert tomllib.loads(files["upstream/small.toml"].decode()) == pins
    assert files["tests/repro/casekit.py"] == b'import os\n\nLIBRARY = "small"\nGOOD = 0\n'
    assert files["tests/repro/example.py"] == b"import small\n"
    assert steps(about, SHIPPED) == ("headwater pins update --trees", "headwater repro 0.9")
    assert not any(b"big" in content for content in files.values())


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (About("scikit-learn", Version("1.0")), "--library scikit-learn: a name is wanted that the index and Python's"),
        (About("../up", Version("1.0")), "--library ../up: a name is wanted"),
        (About("small"), "--library small needs --first RELEASE"),
        (About("big", Version("1.0")), "the pins of big are shipped"),
        (About("big", None, "2.13.0"), "--first and --torch are for other libraries"),
    ],
)
def test_words_that_cannot_be_taken(about: About, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        files_of(about, SHIPPED, TEMPLATES)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], None), ([".git"], None), (["b", "a", ".git"], "a, b"), (list("gfedcba"), "a, b, c, d, e and 2 more"),
    ],
)  # fmt: skip
def test_what_is_in_the_way(names: list[str], said: str | None) -> None:
    assert in_the_way(names) == said
