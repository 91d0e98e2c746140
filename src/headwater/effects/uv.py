# SPDX-License-Identifier: Apache-2.0
"""Running uv, with what the machine says of index, wheels and certificates put into uv's words."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence

import uv

from headwater.core.errors import HarnessError
from headwater.core.index_settings import uv_environment
from headwater.effects import proc


def run_uv(*argv: str, stdin: str | None = None, offline: bool = False) -> str:
    """Run `uv ARGV` and return its standard output.

    Raises:
        headwater.effects.proc.ProcessFailed: with uv's own words, credentials taken out.
    """
    # A project or a virtual environment around the workspace has no say in ours.
    isolation = {"UV_NO_CONFIG": "1", "VIRTUAL_ENV": "", "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}
    # Byte code of environments is never checked against its source again: an environment is checked as a whole.
    isolation["PYC_INVALIDATION_MODE"] = "UNCHECKED_HASH"
    command: Sequence[str] = [uv.find_uv_bin(), *argv, *(["--offline"] if offline else [])]
    return proc.run(command, environ={**isolation, **uv_environment(os.environ)}, stdin=stdin)


def uv_version() -> str:
    """The version of uv: "0.8.3".

    Raises:
        HarnessError: it is not installed, or does not start.
    """
    try:
        said = run_uv("--version")
    except FileNotFoundError as error:  # uv's own error is one.
        raise HarnessError(f"the package uv is here without its program: {error}") from error
    return said.split()[1]


def python_version() -> str:
    """The version x.y.z of the Python that environments are made with: the one that runs Headwater."""
    return platform.python_version()
