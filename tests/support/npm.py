# SPDX-License-Identifier: Apache-2.0
"""Packages of npm for tests: of one version and hash, kept beside the tests' caches."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest


def unpacked(cache: Path, name: str, version: str, sha512: str) -> Path:
    """The folder of a package. Without npm the test is skipped, but for CI, which has it."""
    folder = cache / f"{name}-{version}"
    package = folder / f"{name}-{version}.tgz"
    if not package.is_file():
        npm = shutil.which("npm")
        if npm is None and not os.environ.get("CI"):
            pytest.skip(f"no npm here, which brings {name}")
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [npm or "npm", "pack", f"{name}@{version}", "--pack-destination", str(folder), "--silent"],
            env={**os.environ, "npm_config_cache": str(folder / "npm"), "npm_config_update_notifier": "false"},
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
    assert base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode() == sha512
    if not (folder / "package").is_dir():
        with tarfile.open(package) as archive:
            archive.extractall(folder, filter="data")
    return folder / "package"
