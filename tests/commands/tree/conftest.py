# SPDX-License-Identifier: Apache-2.0
"""Grounds for the commands that change work trees."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from grounds import INIT, ONE, RELEASE, THREE, TWO, Grounds, text
from index_server import IndexServer

TOP = b"top = 1\n" * 9


@pytest.fixture
def grounds(tmp_path: Path, index_server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> Grounds:
    """A workspace without releases and series, on an index and with caches of its own."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "GIT_", "HEADWATER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_INDEX_URL", index_server.url())
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (tmp_path / "workspace").mkdir()
    return Grounds(tmp_path / "workspace", index_server)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Grounds that were made once, to copy."""
    return tmp_path_factory.mktemp("shelf") / "ready"


@pytest.fixture
def ready(grounds: Grounds, shelf: Path) -> Grounds:
    """5.0.0, with the series `example`; 5.1.0, where its lines have moved; 5.2.0, where one of them is another."""
    releases = {
        "5.0.0": RELEASE,
        "5.1.0": {
            **RELEASE,
            "transformers/__init__.py": INIT.replace(b"5.0", b"5.1"),
            "transformers/a.py": TOP + text(),
        },
        "5.2.0": {
            **RELEASE,
            "transformers/__init__.py": INIT.replace(b"5.0", b"5.2"),
            "transformers/a.py": text(l30=b"other"),
        },
    }
    grounds.releases.update({version: dict(files) for version, files in releases.items()})
    if not shelf.is_dir():
        grounds.add_releases(releases)
        grounds.series("example", "5.0.0", [ONE, TWO, THREE])
        for part in ("workspace", "cache"):
            shutil.copytree(grounds.root.parent / part, shelf / part)
    for part in ("workspace", "cache"):
        shutil.copytree(shelf / part, grounds.root.parent / part, dirs_exist_ok=True)
    return grounds
