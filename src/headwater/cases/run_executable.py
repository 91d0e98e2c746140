# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "run-executable"
# title = "An executable of a user's"
# references = []
# severity = "unclear"
# time_limit = 300
# [[signature]]
# type = "Learned"
# message = ''
# ///
"""Runs an executable of a user's in its folder, as `git bisect run` would: `python` is the probed environment's,
and imports the probed library. A signal counts as 128 and its number, as in a shell.
"""

from __future__ import annotations

import subprocess

from headwater_kit import HERE, end_with, in_place, target


def run(device: str) -> None:
    told = target()
    program = HERE / told["file"]
    program.chmod(0o755)
    with in_place(HERE, told["package"]):
        done = subprocess.run([str(program)], check=False)
    if done.returncode:
        end_with(done.returncode if done.returncode > 0 else 128 - done.returncode)
