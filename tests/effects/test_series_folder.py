# SPDX-License-Identifier: Apache-2.0
"""Series as folders: what serves which release, and whatever is missing, or not declared, is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version
from series import HEAD

from headwater.core.errors import BadInput
from headwater.effects.series_folder import read_series_folder, series_names

TREE = "2f3082fbd383a3fea53c4c2e0348d9e80917cc62"
RELEASES = [Version(f"5.{minor}.0") for minor in range(6)]
PATCH = HEAD + b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
ONE, TWO = "0001-one.patch", "0002-two.patch"
FILES = {
    "series": f"base: 5.5.0 {TREE}\nrange 5.0.0..5.2.0 older\nrange 5.1.0 alone\n{ONE}\n{TWO}\n".encode(),
    ONE: PATCH,
    TWO: PATCH,
    "older/series": f"base: 5.0.0 {TREE}\n{TWO}\n".encode(),
    f"older/{TWO}": PATCH,
    "alone/series": f"base: 5.1.0 {TREE}\n{ONE}\n{TWO}\n".encode(),
    f"alone/{ONE}": PATCH,
    f"alone/{TWO}": PATCH,
    "README.md": b"why\n",
    ".notes/x": b"",
}
Write = Callable[[dict[str, bytes | None]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """The folder with some files changed; None takes one away."""

    def make(files: dict[str, bytes | None]) -> Path:
        for name, content in {**FILES, **files}.items():
            if content is not None:
                path = tmp_path / "patches" / "mend" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        return tmp_path / "patches" / "mend"

    return make


@pytest.mark.parametrize(
    ("release", "variant", "files"),
    [
        ("5.0.0", "older", [ONE, f"older/{TWO}"]),
        ("5.1.0", "alone", [f"alone/{ONE}", f"alone/{TWO}"]),
        ("5.2.0", "older", [ONE, f"older/{TWO}"]),
        ("5.3.0", None, [ONE, TWO]),
        (None, None, [ONE, TWO]),
    ],
)
def test_which_file_serves_a_release(write: Write, release: str | None, variant: str | None, files: list[str]) -> None:
    folder = write({})
    series = read_series_folder(folder, RELEASES)
    assert series_names(folder.parent) == ["mend"]
    serving = series.variant_for(Version(release) if release else None)
    assert (serving.name if serving else None) == variant
    assert [series.file_of(patch, serving) for patch in series.file.patches] == [folder / file for file in files]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"series": b"\xff"}, "patches/mend/series: not UTF-8 at byte 0"),
        ({TWO: None}, f"patches/mend/series lists {TWO}, and there is no such file"),
        ({"0003-more.patch": PATCH}, r"patches/mend/0003-more\.patch is listed in no `series` file"),
        ({TWO: b"nothing"}, f"{TWO}: not a patch"),
        ({"older/series": None}, "patches/mend/older/series is missing"),
        ({"older/series": None, f"older/{TWO}": None}, "patches/mend/older/series is missing"),
        ({"newer/series": FILES["older/series"], f"newer/{TWO}": PATCH}, "variant newer is named by no range"),
        ({f"newer/{TWO}": PATCH}, "patches/mend/newer/series is missing"),
        ({f"older/{ONE}": PATCH}, f"patches/mend/older/{ONE} is listed in no `series` file"),
        ({f"older/{TWO}": None}, f"patches/mend/older/series lists {TWO}, and there is no such file"),
        ({"older/series": FILES["series"]}, "patches/mend/older/series, line 2: a variant has no ranges"),
        ({"older/series": f"base: 5.4.0 {TREE}\n{TWO}\n".encode()}, r"older is written against 5\.4\.0"),
        ({"series": FILES["series"].replace(b"5.1.0", b"5.9.0")}, r"range 5\.9\.0 serves no pinned release"),
    ],
)  # fmt: skip
def test_refused_by_name(write: Write, files: dict[str, bytes | None], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_series_folder(write(files), RELEASES)
