# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "run-script"
# title = "A python script of a user's"
# references = []
# severity = "unclear"
# time_limit = 300
# [[signature]]
# type = "Learned"
# message = ''
# ///
"""Runs a python script of a user's as plain python would: as `__main__`, in its folder.

An exception comes through as it is; an exit status other than 0 by the exception that `headwater_kit.end_with` raises.
"""

from __future__ import annotations

import runpy
import sys

from headwater_kit import HERE, end_with, in_place, target


def status_of(code: object) -> int:
    """The exit status that `sys.exit(code)` gives a process."""
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    sys.stdout.flush()
    sys.stderr.write(f"{code}\n")
    return 1


def run(device: str) -> None:
    told = target()
    script = str(HERE / told["file"])
    sys.argv = [script]
    status = 0
    with in_place(HERE, told["package"]):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            status = status_of(end.code)
    if status:
        end_with(status)
