# SPDX-License-Identifier: Apache-2.0
"""Cases that tests make."""

from __future__ import annotations

from pathlib import Path

CASE = """\
# /// case
# id = "{id}"
# title = "made for a test"
# references = []
# severity = "unclear"
# time_limit = {limit}
{extra}
# [[signature]]
# type = "{type}"
# message = '{message}'
# ///
import os
import time


def run(device):
    {body}
"""


def write_case(
    folder: Path,
    case_id: str,
    body: str,
    type_: str = "KeyError",
    message: str = "nothing",
    extra: str = "#",
    limit: int = 60,
) -> None:
    """Write a case into `folder`, which is not bad unless `body` raises what is signed."""
    text = CASE.format(id=case_id, body=body, type=type_, message=message, extra=extra, limit=limit)
    (folder / f"{case_id.replace('-', '_')}.py").write_text(text, encoding="utf-8")
