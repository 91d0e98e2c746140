# SPDX-License-Identifier: Apache-2.0
"""What `matrix` shows on a terminal: the grid in words where it fits and in letters where it does not, the suites, and
what is not as expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headwater.core.matrix import Column, Row, span_name
from headwater.core.matrix_report import Look, MatrixReport
from headwater.core.revisions import short_name
from headwater.core.verdicts import Verdict
from headwater.report.matrix_words import (
    needless_lines,
    not_run_line,
    place_words,
    suite_entries,
    summary,
    wrong_lines,
)
from headwater.report.terminal import STYLES, plain_table, print_lines, probes_sentence
from headwater.report.workers import workers_lines

LETTERS: Mapping[Verdict | None, str] = {
    Verdict.GOOD: ".",
    Verdict.BAD: "B",
    Verdict.OTHER_FAILURE: "F",
    Verdict.ABSENT: "-",
    Verdict.UNTESTABLE: "u",
    Verdict.FLAKY: "~",
    Verdict.UNAVAILABLE: "n",
    Verdict.HARNESS_ERROR: "E",
    None: "?",
}
_WIDE = 10_000  # columns, so that a table's own width can be measured
_Spans = Sequence[tuple[Column, ...]]


def print_matrix(console: Console, report: MatrixReport) -> None:
    """The grid, the suites, what is not as expected, what was not run, and how long it took."""
    spans = report.spans(report.rows)
    table = _in_words(report, spans)
    wanted = console.measure(table, options=console.options.update(width=_WIDE)).maximum
    if wanted <= console.width:
        console.print(table)
    else:
        _print_letters(console, report, spans)
    console.print()
    for first, *rest in suite_entries(report):
        print_lines(console, [first, *(f"    {line}" for line in rest)])
    not_run = [not_run_line(report)] if report.not_run else []
    print_lines(console, [*needless_lines(report), *wrong_lines(report), *not_run])
    rows = [result for _cell, result in report.done]
    words = [summary(report), probes_sentence(report.ran, rows)]
    words += ["All as expected."] if rows and report.exit_status == 0 else []
    print_lines(console, [" ".join(words), *workers_lines(report.workers)])


def _lines(report: MatrixReport) -> list[tuple[Row, str]]:
    return [(row, device) for row in report.rows for device in report.devices]


def _in_words(report: MatrixReport, spans: _Spans) -> Table:
    """The grid in whole words; a column is headed by its first and its last revision."""
    table = plain_table()
    several = len(report.devices) > 1
    for name in ("case", *(["device"] if several else [])):
        table.add_column(name, no_wrap=True)
    for span in spans:
        ends = dict.fromkeys((short_name(span[0].revision), short_name(span[-1].revision)))
        table.add_column("\n".join(ends), no_wrap=True)
    for row, device in _lines(report):
        looks = [report.look(row, span[0], device) for span in spans]
        table.add_row(row.name, *([device] if several else []), *(_styled(place_words(look), look) for look in looks))
    return table


def _styled(words: str, look: Look) -> Text:
    shown = look.after if look.is_patched and look.after else look.before
    return Text(words, STYLES[shown] if shown else "dim")


def letters(look: Look) -> str:
    """A place in as few letters as tell it: the verdicts before and after, and `!` where it is not as expected."""
    after = f">{LETTERS[look.after]}" if look.is_patched else ""
    return f"{LETTERS[look.before]}{after}{'!' if look.wrong else ''}"


def _print_letters(console: Console, report: MatrixReport, spans: _Spans) -> None:
    """The grid in letters, in as many blocks below one another as the width asks for; revisions run downwards."""
    several = len(report.devices) > 1
    lines = _lines(report)
    labels = [f"{row.name} {device}" if several else row.name for row, device in lines]
    looks = [[report.look(row, span[0], device) for span in spans] for row, device in lines]
    names = [span_name([short_name(column.revision) for column in span]) for span in spans]
    room = max(len(letters(look)) for line in looks for look in line) + 1
    label = min(max(map(len, labels)), console.width // 2)
    many = max(1, (console.width - label - 1) // room)
    for start in range(0, len(spans), many):
        block = slice(start, start + many)
        print_lines(console, [" " * (label + 1) + text for text in _head(names[block], room)])
        for words, line in zip(labels, looks, strict=True):
            shown = Text(f"{_fit(words, label):<{label}} ")
            for look in line[block]:
                shown.append_text(_styled(f"{letters(look):<{room}}", look))
            console.print(shown, no_wrap=True)
    _print_legend(console, report, [look for line in looks for look in line])


def _print_legend(console: Console, report: MatrixReport, looks: Sequence[Look]) -> None:
    seen = {look.before for look in looks} | {look.after for look in looks if look.is_patched}
    notes = [", ".join(f"{letter} {one.words if one else 'not run'}" for one, letter in LETTERS.items() if one in seen)]
    notes += ["before > after the series"] if any(column.patched for column in report.columns) else []
    notes += ["! not as expected"] if report.wrong else []
    console.print("; ".join(notes), style="dim", highlight=False, soft_wrap=True)


def _fit(words: str, room: int) -> str:
    return words if len(words) <= room else f"{words[: room - 1]}…"


def _head(names: Sequence[str], room: int) -> list[str]:
    """Names that run downwards, and end at the same line."""
    height = max(map(len, names))
    standing = [name.rjust(height) for name in names]
    return ["".join(f"{name[n]:<{room}}" for name in standing).rstrip() for n in range(height)]
