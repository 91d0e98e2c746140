# SPDX-License-Identifier: Apache-2.0
"""What a machine has and lacks, for people and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from headwater.core.diagnosis import Finding, State
from headwater.report.terminal import plain_table, print_lines

_STYLES = {State.HERE: "green", State.LACKING: "yellow", State.NOT_ASKED: "cyan"}


def print_doctor(console: Console, findings: Sequence[Finding]) -> None:
    """A row a thing, what a lack costs beside it, and a closing sentence."""
    table = plain_table()
    for name in ("", "", "found", "what that costs"):
        table.add_column(name, overflow="fold", no_wrap=not name)
    for one in findings:
        needed = one.necessary and one.state is State.LACKING
        state = Text("NEEDED" if needed else one.state.value, "bold red" if needed else _STYLES[one.state])
        told = one.cost + (f"\n-> {one.remedy}" if one.remedy else "")
        table.add_row(one.name, state, Text(one.found), Text(told.strip()))
    console.print(table)
    print_lines(console, ["", _ending(findings)])


def _ending(findings: Sequence[Finding]) -> str:
    lacking = [one for one in findings if one.state is State.LACKING]
    needed = [one.name for one in lacking if one.necessary]
    if needed:
        return f"Nothing can be probed without: {', '.join(needed)}."
    if lacking:
        return f"All that is necessary is here. Without {', '.join(one.name for one in lacking)}, see what that costs."
    return "All is here."


def finding_object(one: Finding) -> dict[str, Any]:
    """One thing that Headwater uses."""
    return {
        "name": one.name, "state": one.state.value, "necessary": one.necessary, "found": one.found, "cost": one.cost,
        "remedy": one.remedy,
    }  # fmt: skip
