# SPDX-License-Identifier: Apache-2.0
"""A matrix for other programs and pages: JSON keys, Markdown, and JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from headwater.core.known_failures import Naming
from headwater.core.matrix import Cell, Column, span_name
from headwater.core.matrix_report import MatrixReport
from headwater.core.results import ProbeResult
from headwater.core.revisions import short_name
from headwater.core.verdicts import Verdict
from headwater.report.machine import comparison_object, probe_object
from headwater.report.matrix_words import (
    changes_words,
    named_words,
    needless_lines,
    not_run_line,
    place_words,
    suite_entries,
    summary,
    wrong_lines,
)
from headwater.report.workers import workers_object

# XML 1.0 allows no others (section 2.2, production Char).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def matrix_object(report: MatrixReport) -> dict[str, Any]:
    """The keys of the JSON object: every cell that was run as a probe, and what was not run by name."""
    return {
        "series": report.series,
        "devices": list(report.devices),
        "rows": [{"kind": row.kind, "name": row.name} for row in report.rows],
        "revisions": [_column_object(column) for column in report.columns],
        "cells": len(report.cells),
        "seconds": round(report.seconds, 3),
        "cells_per_second": round(report.rate, 3),
        "probes": [probe_object(result) for _cell, result in report.done],
        "comparisons": [comparison_object(line) for line in report.compared.values()],
        "failures": [_naming_object(cell, naming) for cell, naming in report.namings.items()],
        "not_run": [
            {"case": cell.row.name, "revision": cell.revision, "series": cell.series, "device": cell.device}
            for cell in report.not_run
        ],
        "probes_run": report.ran,
        "interrupted": report.interrupted,
        "workers": workers_object(report.workers),
    }


def _naming_object(cell: Cell, naming: Naming) -> dict[str, Any]:
    return {
        "case": cell.row.name,
        "revision": cell.revision,
        "series": cell.series,
        "device": cell.device,
        "by_case": {case: [one.name for one in tests] for case, tests in naming.by_case.items()},
        "unnamed": [one.name for one in naming.unnamed],
    }


def _column_object(column: Column) -> dict[str, Any]:
    return {
        "revision": column.revision,
        "environment_name": column.group,
        "tests_at": column.tests_at,
        "patched": column.patched,
        "skipped": [{"patch": patch, "state": state.value} for patch, state in column.skipped],
    }


def markdown(report: MatrixReport) -> str:
    """The grid as a table, and as a list the suites and what is not as expected."""
    spans = report.spans(report.rows)
    heads = [span_name([short_name(column.revision) for column in span]) for span in spans]
    grid = [
        [row.name, device, *(place_words(report.look(row, span[0], device)) for span in spans)]
        for row in report.rows
        for device in report.devices
    ]
    parts = [_table(["case", "device", *heads], grid)]
    items = [f"{'  ' * (n > 0)}- {_plain(line)}" for entry in suite_entries(report) for n, line in enumerate(entry)]
    told = [*needless_lines(report), *wrong_lines(report), *([not_run_line(report)] if report.not_run else [])]
    items += [f"- {_plain(line)}" for line in told]
    parts += ["\n".join(items)] if items else []
    return "\n\n".join([*parts, summary(report)]) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_plain(word) for word in line)} |" for line in lines)


def _plain(text: str) -> str:
    """Text that Markdown takes for nothing else."""
    return re.sub(r"([\\|<>*_`\[\]])", r"\\\1", " ".join(text.split()))


def junit(report: MatrixReport) -> str:
    """JUnit XML: a suite for each revision and device, a test for each cell.

    A cell that is as expected passes, whatever its verdict: a known bug is no news, and its verdict stands in the
    output. `untestable`, `unavailable`, an expected `absent` and what was not run are skipped: not tested is not
    passed. A `harness error` is an error; all else that is not as expected is a failure.
    """
    top = ElementTree.Element("testsuites", name="headwater matrix")
    for column in report.columns:
        for device in report.devices:
            cells = [cell for cell in report.cells if (cell.revision, cell.device) == (column.revision, device)]
            suite = ElementTree.SubElement(top, "testsuite", name=f"{column.revision} {device}")
            for cell in cells:
                _add_test(suite, report, cell)
            _count(suite)
    _count(top)
    ElementTree.indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(top, encoding="unicode") + "\n"


def _add_test(suite: ElementTree.Element, report: MatrixReport, cell: Cell) -> None:
    result = report.results.get(cell)
    name = f"{cell.row.name} [{cell.series}]" if cell.series else cell.row.name
    test = ElementTree.SubElement(suite, "testcase", name=name, classname=f"{cell.revision}.{cell.device}")
    test.set("time", f"{result.seconds if result else 0:.3f}")
    if result is None:
        ElementTree.SubElement(test, "skipped", message="not run: the matrix was interrupted")
        return
    outcome = _outcome(report, cell, result)
    message = _legal(_message(report, cell, result))
    if outcome is not None:
        element = ElementTree.SubElement(test, outcome, message=message)
        if outcome != "skipped":
            element.set("type", result.verdict.value)
            element.text = _legal(result.evidence.frame or message)
    ElementTree.SubElement(test, "system-out").text = _legal("\n".join([message, *_failed_tests(result)]))


def _outcome(report: MatrixReport, cell: Cell, result: ProbeResult) -> str | None:
    """The element that says how a test ended; None where it passed."""
    if result.verdict is Verdict.HARNESS_ERROR:
        return "error"
    if result.verdict in (Verdict.UNTESTABLE, Verdict.UNAVAILABLE):
        return "skipped"
    if report.is_wrong(cell):
        return "failure"
    return "skipped" if result.verdict is Verdict.ABSENT else None


def _message(report: MatrixReport, cell: Cell, result: ProbeResult) -> str:
    evidence = result.evidence
    words = [result.verdict.words]
    if result.expected is not None:
        words.append("as expected" if result.as_expected else f"instead of {result.expected.words}")
    if evidence.type:
        words.append(f"{evidence.type}: {evidence.message}")
    line = report.compared.get(cell.place) if cell.series else None
    if line is not None and line.changes is not None:
        words += changes_words(line)
    if cell in report.namings:
        words += named_words(report.namings[cell])
    return "; ".join(words)


def _failed_tests(result: ProbeResult) -> list[str]:
    return [f"{one.result}: {one.name}: {one.reason}" for one in result.tests if one.result == "failed"]


def _count(element: ElementTree.Element) -> None:
    """Set an element's totals from the tests below it."""
    tests = list(element.iter("testcase"))
    element.set("tests", str(len(tests)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(test.find(tag) is not None for test in tests)))
    element.set("time", f"{sum(float(test.get('time', '0')) for test in tests):.3f}")


def _legal(text: str) -> str:
    return _NOT_XML.sub("�", text)
