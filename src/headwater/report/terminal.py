# SPDX-License-Identifier: Apache-2.0
"""Tables and sentences for people, on standard output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headwater.core.cases import Case
from headwater.core.results import ProbeResult, ReproReport, Surroundings, torch_words
from headwater.core.verdicts import Evidence, Verdict

STYLES = {
    Verdict.GOOD: "green",
    Verdict.BAD: "bold red",
    Verdict.ABSENT: "cyan",
    Verdict.OTHER_FAILURE: "magenta",
    Verdict.UNTESTABLE: "yellow",
    Verdict.FLAKY: "bold yellow",
    Verdict.UNAVAILABLE: "yellow",
    Verdict.HARNESS_ERROR: "bold magenta",
}


def plain_table() -> Table:
    """A table without lines, as all of ours are."""
    return Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))


def verdict_text(verdict: Verdict) -> Text:
    """A verdict in its colour; the word alone tells it too."""
    return Text(verdict.words, STYLES[verdict])


def evidence_text(evidence: Evidence) -> Text:
    """Exception and message, and below them the deepest frame inside the library."""
    text = Text()
    if evidence.type:
        text.append(evidence.type, "bold")
        text.append(f": {' '.join((evidence.message or '').split())}")
    if evidence.frame:
        text.append(f"\n{evidence.frame}", "dim")
    return text


def issue_text(references: Sequence[str]) -> str:
    """The first reference, short: `owner/name#46439` as `#46439`."""
    return f"#{references[0].partition('#')[2]}" if references and "#" in references[0] else "".join(references[:1])


def surroundings_line(around: Surroundings) -> str:
    """One line that says where the verdicts hold."""
    environment = f"environment {around.environment_name} ({around.environment[:12]})" if around.environment else "none"
    return (
        f"{around.package} {around.revision} · {torch_words(around.torch)} · Python {around.python} · "
        f"{', '.join(around.devices)} · {environment}"
    )


def probes_sentence(ran: int, rows: Sequence[ProbeResult]) -> str:
    """How many probes ran, and where the other verdicts come from."""
    known = sum(row.cached for row in rows)
    parts = [f"{ran} {'probe' if ran == 1 else 'probes'} run"]
    if known:
        parts.append(f"{known} known from earlier runs (--fresh runs them again)")
    if ran == 0 and known == 0:
        parts.append(f"{len(rows)} not probed")
    return ", ".join(parts) + "."


def print_repro(console: Console, report: ReproReport, cases: Mapping[str, Case]) -> None:
    """One row a case, the line of the surroundings, a closing sentence."""
    rows, around, ran = report.rows, report.surroundings, report.ran
    several = len({row.device for row in rows}) > 1
    table = plain_table()
    for name in ("case", "issue", *(["device"] if several else []), "verdict", "evidence"):
        table.add_column(name, overflow="fold", no_wrap=name in ("case", "issue", "verdict"))
    table.add_column("seconds", justify="right")
    for row in rows:
        verdict = verdict_text(row.verdict)
        if not row.as_expected and row.expected is not None:
            verdict.append(f"\nexpected {row.expected.words}", "bold yellow")
        seconds = f"{row.seconds:.1f}{' *' if row.cached else ''}"
        references = cases[row.case].references if row.case in cases else ()
        device = [row.device] if several else []
        table.add_row(row.case, issue_text(references), *device, verdict, evidence_text(row.evidence), seconds)
    console.print(table)
    if any(row.cached for row in rows):
        console.print("* known from an earlier run", style="dim")
    console.print()
    console.print(surroundings_line(around), style="dim", highlight=False, soft_wrap=True)
    console.print(
        f"{_counts(rows)} {probes_sentence(ran, rows)} {judgement(rows)}",
        highlight=False,
        soft_wrap=True,
    )


def _counts(rows: Sequence[ProbeResult]) -> str:
    counts = Counter(row.verdict for row in rows)
    return ", ".join(f"{counts[verdict]} {verdict.words}" for verdict in Verdict if counts[verdict]) + "."


def judgement(rows: Sequence[ProbeResult]) -> str:
    """Whether all rows are as expected, and which are not."""
    if any(row.expected is None for row in rows):
        known = "The atlas knows nothing of some of these: only good and absent count as in order."
        return f"{known} {'All are.' if all(row.as_expected for row in rows) else 'Not all are.'}"
    wrong = [row for row in rows if not row.as_expected]
    if not wrong:
        return "All as expected."
    return (
        "Not as expected: "
        + ", ".join(
            f"{row.case} on {row.device} is {row.verdict.words} instead of {row.expected.words}"
            for row in wrong
            if row.expected is not None
        )
        + "."
    )


def print_error(console: Console, kind: str, message: str) -> None:
    """What went wrong, in one paragraph."""
    console.print(f"headwater: {kind}: {message}", style="red", markup=False, highlight=False, soft_wrap=True)


def print_lines(console: Console, lines: Sequence[str]) -> None:
    """Plain lines."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def print_shelves(console: Console, root: str, shelves: Sequence[tuple[str, int, int]]) -> None:
    """What stands in the caches: name, count, bytes."""
    table = plain_table()
    table.add_column("cache")
    table.add_column("entries", justify="right")
    table.add_column("MB", justify="right")
    for name, count, size in shelves:
        table.add_row(name, str(count), f"{size / 1e6:.1f}")
    console.print(table)
    console.print(f"in {root}", style="dim", markup=False, highlight=False, soft_wrap=True)
