# SPDX-License-Identifier: Apache-2.0
"""A complete bundle, made once and copied: what a test does to it, it does to its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hunting_ground import Ground, copy_ground
from sending import Sent, send, write_series


@pytest.fixture(scope="session")
def sent_template(ground_template: Path, make_once: Callable[..., Path]) -> Path:
    """The series `mend` and a bundle of it for 5.3.0, with a body that a person wrote."""

    def make(folder: Path) -> None:
        ground = copy_ground(ground_template, folder)
        send(write_series(ground, ["mended"], "5.3.0"), "--onto", "5.3.0").write_body()
        shutil.copytree(ground.root / "patches", ground.here / "patches")

    return make_once("sent", make) / "here"


@pytest.fixture
def sent(ground: Ground, sent_template: Path) -> Sent:
    """A complete bundle, and the workspace that it was made in."""
    shutil.copytree(sent_template / "patches", ground.root / "patches")
    shutil.copytree(sent_template / "out", ground.here / "out")
    return Sent(ground, ground.here / "out")


@pytest.fixture(scope="session")
def pair_template(ground_template: Path, make_once: Callable[..., Path]) -> Path:
    """A bundle of two patches for 5.3.0, shown on 5.2.0 too."""

    def make(folder: Path) -> None:
        series = write_series(copy_ground(ground_template, folder), ["mended", "early"], "5.3.0")
        send(series, "--onto", "5.3.0", "--releases", "5.2.0")

    return make_once("pair", make) / "here" / "out"


@pytest.fixture
def moved(ground: Ground, pair_template: Path) -> Sent:
    """That bundle, in a workspace that has neither the series nor any verdict, with caches of its own."""
    shutil.copytree(pair_template, ground.here / "received")
    return Sent(ground, ground.here / "received")
