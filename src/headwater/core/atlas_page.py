# SPDX-License-Identifier: Apache-2.0
"""The pages that are generated from the atlas: docs/atlas.md, and the short table of the README."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from headwater.core.atlas import Atlas, AtlasChange, AtlasEntry
from headwater.core.atlas_text import axis_of
from headwater.core.cases import Case
from headwater.core.errors import BadInput
from headwater.core.verdicts import Verdict

BEGIN, END = "<!-- atlas: begin -->", "<!-- atlas: end -->"
_COMMAND = "`headwater atlas page --write`"
_REFERENCE = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")


def atlas_page(atlas: Atlas, cases: Mapping[str, Case], series: Mapping[str, Sequence[str]]) -> str:
    """The text of docs/atlas.md; `series` names those that mend each case."""
    measured = axis_of(atlas, ())
    over = f"the releases from {measured[0]} to {measured[-1]}" if measured else "no release"
    parts = [
        "# The atlas\n",
        f"What every case says on every release: {len(cases)} cases over {over}. Made from\n"
        f"tests/repro by {_COMMAND}; `headwater atlas check` measures it anew. Ranges are in\n"
        "version order: 5.10.4 was published after 5.12.0.\n",
        _table(atlas, cases, series, short=False),
        "## Case by case\n",
        *(_section(atlas, case, series.get(case.id, ())) for case in cases.values()),
    ]
    return "\n".join(parts)


def readme_table(atlas: Atlas, cases: Mapping[str, Case], series: Mapping[str, Sequence[str]]) -> str:
    """The short table."""
    return _table(atlas, cases, series, short=True)


def with_table(text: str, table: str) -> str:
    """A page with the table between its markers.

    Raises:
        BadInput: the markers are not there, each once and in this order.
    """
    before, begin, rest = text.partition(BEGIN)
    _old, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in after:
        raise BadInput(f"README.md must hold one line {BEGIN} and below it one line {END}; the table goes between them")
    return f"{before}{BEGIN}\n\n{table}\n{END}{after}"


def _table(atlas: Atlas, cases: Mapping[str, Case], series: Mapping[str, Sequence[str]], short: bool) -> str:
    names = ["case", "affected", "series"] if short else [
        "case", "severity", "affected", "introduced by", "fixed by", "series"
    ]  # fmt: skip
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for case in cases.values():
        row = {
            "case": case.id if short else f"[{case.id}](#{case.id})",
            "severity": case.severity,
            "affected": affected(atlas, case.id),
            "introduced by": _commits(atlas, case.id, "introduced"),
            "fixed by": _commits(atlas, case.id, "fixed"),
            "series": ", ".join(series.get(case.id, ())),
        }
        lines.append("| " + " | ".join(row[name] for name in names) + " |")
    return "\n".join(lines) + "\n"


def affected(atlas: Atlas, case: str) -> str:
    """The ranges of releases on which a case is bad, in words."""
    entries = atlas.of(case)
    bad = [range_words(entry) for entry in entries if entry.verdict is Verdict.BAD]
    return ", ".join(bad) or ("none" if entries else "not measured")


def range_words(entry: AtlasEntry) -> str:
    """The releases of an entry: `5.5.0 to 5.12.1`."""
    return str(entry.first) if entry.first == entry.last else f"{entry.first} to {entry.last}"


def _commits(atlas: Atlas, case: str, find: str) -> str:
    return ", ".join(change_words(change) for change in atlas.changes if (change.case, change.find) == (case, find))


def change_words(change: AtlasChange) -> str:
    """A commit of a change-over: `2dba8e049597 (#44950)`."""
    return change.commit[:12] + (f" (#{change.pull})" if change.pull is not None else "")


def _section(atlas: Atlas, case: Case, series: Sequence[str]) -> str:
    """What a reader needs to know of one case."""
    rows = [("severity", case.severity), ("references", ", ".join(map(_link, case.references)))]
    rows += [("you see", case.user_sees), ("meanwhile", case.meanwhile), ("series", ", ".join(series))]
    words = [f"- {range_words(entry)}: {entry.verdict.words}" for entry in atlas.of(case.id)]
    for change in atlas.changes:
        if change.case == case.id:
            words.append(f"- {change.find} in {change.release} by {change_words(change)}")
    said = "".join(f"{name.capitalize()}: {text}  \n" for name, text in rows if text)
    history = "\n".join(words) or "- not measured"
    return f"### {case.id}\n\n{case.title.rstrip('.')}.\n\n{said}\n{history}\n"


def _link(reference: str) -> str:
    found = _REFERENCE.fullmatch(reference)
    return f"[{reference}](https://github.com/{found[1]}/issues/{found[2]})" if found else reference
