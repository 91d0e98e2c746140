# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML file: text, styles, script and data in it, and nothing outside it.

What a reader filters and hovers over comes from the data that the file embeds; everything else stands in the text, so
that it can be read, searched and printed without the script.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from packaging.version import Version

from headwater import __version__
from headwater.core.drawing import tree_of
from headwater.core.report_data import MEASURED_ON, CaseData, ReportData, Turn
from headwater.core.results import has_accelerator
from headwater.core.revisions import short_name
from headwater.core.verdicts import Verdict
from headwater.report.html_answers import diff_files, fall, levels
from headwater.report.html_data import CODES, LETTERS, embedded, script_text, when

_REFERENCE = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")
_TURNS = {
    "introduced": "introduced",
    "arrived": "arrived, without the bug",
    "fixed": "fixed",
    "removed": "the feature went",
}


def render(data: ReportData) -> str:
    """The whole file. The same data give the same text."""
    versions = [one.pin.version for one in data.releases]
    seen = [seen for one in data.cases for cell in one.cells for seen in cell.seen]
    return _templates().get_template("report.html").render(
        data=data,
        versions=versions,
        tree=tree_of(versions),
        columns=_columns(versions),
        bad=[sum(one.cells[n].verdict in (Verdict.BAD, Verdict.FLAKY) for one in data.cases)
             for n in range(len(versions))],
        key=[(CODES[v], LETTERS[v], v.words) for v in Verdict if any(v in _verdicts(one) for one in data.cases)],
        seen=len(seen),
        current=sum(one.current for one in seen),
        disputed=sum(cell.disputed for one in data.cases for cell in one.cells),
        newest=max((one.recorded for one in seen), default=None),
        measured_on=MEASURED_ON,
        embedded=Markup(script_text(embedded(data))),
        headwater=__version__,
    )  # fmt: skip


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("headwater.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "code": CODES.__getitem__, "letter": LETTERS.__getitem__, "short": short_name, "when": when,
        "address": reference_address, "turn": turn_words, "spans": spans, "diff_files": diff_files, "levels": levels,
        "fall": fall, "accelerator": has_accelerator,
    }  # fmt: skip
    # How far the releases of a tree stand apart, in pixels.
    environment.globals |= {"right": 34, "down": 26}
    return environment


def _verdicts(case: CaseData) -> set[Verdict | None]:
    """The verdicts that a case's row can show, on whatever device."""
    return {cell.verdict for cell in case.cells} | {seen.verdict for cell in case.cells for seen in cell.seen}


def _columns(versions: Sequence[Version]) -> list[tuple[str, int]]:
    """Neighbouring releases of one x.y: its name, and how many they are."""
    names = [f"{version.major}.{version.minor}" for version in versions]
    return [(name, len(list(group))) for name, group in itertools.groupby(names)]


def reference_address(reference: str) -> str | None:
    """Where a reference such as `owner/name#46439` leads; None where it is no such one."""
    found = _REFERENCE.fullmatch(reference)
    return f"https://github.com/{found[1]}/issues/{found[2]}" if found else None


def turn_words(turn: Turn) -> str:
    """A change of verdict in words: `introduced in 5.5.0`, `fixed in one of 5.1.0, 5.2.0`."""
    places = [*turn.unjudged, turn.after]
    where = str(turn.after) if len(places) == 1 else f"one of {', '.join(map(str, places))}"
    arrival = " (the feature arrived there)" if turn.kind == "introduced" and turn.verdicts[0] is Verdict.ABSENT else ""
    return f"{_TURNS[turn.kind]} in {where}{arrival}"


def spans(wanted: Sequence[Version], versions: Sequence[Version]) -> str:
    """Some of the releases in words, neighbours in version order as one: `5.5.0 to 5.12.1`."""
    chosen, words = set(wanted), []
    for inside, group in itertools.groupby(versions, key=lambda version: version in chosen):
        run = list(group)
        if inside:
            words.append(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}")
    return ", ".join(words) or "none"
