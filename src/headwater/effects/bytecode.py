# SPDX-License-Identifier: Apache-2.0
"""Byte code of an environment's packages: of those modules alone that probes import, where a workspace has a list of
them. Torch and what it requires bring three times as many, and to compile those takes longer than to install them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from headwater.effects import proc


def site_packages(environment: Path) -> Path:
    """Where the packages of an environment lie, which has the Python that runs this."""
    return environment / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def modules_in(site: Path, names: Sequence[str]) -> dict[str, Path]:
    """Those of the named modules whose source is in the folder `site`, by name, in the order given."""
    found = {}
    for name in names:
        place = site.joinpath(*name.split("."))
        for path in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if path.is_file():
                found[name] = path
                break
    return found


def compile_files(python: Path, files: Sequence[Path], folder: Path) -> None:
    """Compile files for an interpreter, each beside its source and never to be checked against it again: an
    environment is checked as a whole. As many processes as there are cores share them; `folder` is for their lists.

    Raises:
        ProcessFailed: one of them cannot be compiled.
    """
    shares = os.cpu_count() or 1
    # Dealt out by size, so that all end at about the same time; compileall itself would take a list one by one.
    dealt = sorted(files, key=lambda file: file.stat().st_size)

    def compile_share(number: int) -> None:
        listed = folder / f"modules-{number}.txt"
        listed.write_text("".join(f"{file}\n" for file in dealt[number::shares]), encoding="utf-8")
        words = ["-q", "--invalidation-mode", "unchecked-hash", "-i", str(listed)]
        proc.run([str(python), "-I", "-m", "compileall", *words])

    with ThreadPoolExecutor(shares) as pool:
        list(pool.map(compile_share, range(shares)))
