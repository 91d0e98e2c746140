# SPDX-License-Identifier: Apache-2.0
"""What `test-patched` shows of many releases: a line each, and in full what is not in order."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from headwater.core.results import Comparison, PatchedReport, PatchedRun, ProbeResult, Surroundings
from headwater.core.states import PatchState
from headwater.core.test_results import Changes, OneTest
from headwater.core.verdicts import Evidence, Verdict
from headwater.report.patched import print_patched

PATCHES = ("0001-one.patch", "0002-two.patch")
SAME = Changes(new_failures=(), lost=(), newly_passing=(), still_failing=(OneTest("t.py::old", "failed"),))


def row(case: str, release: str, verdict: Verdict, expected: Verdict | None) -> ProbeResult:
    told = Evidence("AttributeError", f"{case} is bad", None) if verdict is Verdict.BAD else Evidence()
    return ProbeResult(case, release, None, "cpu", verdict, told, 1.0, False, "1" * 40, "e" * 64, expected)


def line(title: str, release: str, after: Verdict = Verdict.GOOD, changes: Changes | None = None) -> Comparison:
    before = row(title, release, Verdict.BAD, Verdict.BAD)
    return Comparison(title, before, row(title, release, after, Verdict.GOOD), changes)


def around(release: str) -> Surroundings:
    return Surroundings("transformers", release, "2.13.0", "3.11.7", "linux", "e" * 64, "5.0-5.15", ("cpu",))


def mended(release: str, after: Verdict = Verdict.GOOD) -> PatchedRun:
    lines = [line("early-init", release), line("max-cache-len", release, after), line("tests of 0001", release)]
    suite = row("conformance", release, Verdict.BAD, Verdict.BAD)
    lines.append(Comparison("conformance", suite, suite, SAME))
    return PatchedRun(release, (), PATCHES, lines, around(release))


def fixed(release: str) -> PatchedRun:
    good = row("early-init", release, Verdict.GOOD, Verdict.GOOD)
    skipped = dict.fromkeys(PATCHES, PatchState.FIXED_UPSTREAM)
    return PatchedRun(release, (), (), [Comparison("early-init", good, good)], around(release), skipped=skipped)


def shown(*runs: PatchedRun, width: int = 100) -> str:
    out = io.StringIO()
    print_patched(Console(file=out, width=width), PatchedReport("mend", list(runs), 7, False))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_many_in_order_are_a_line_each(width: int) -> None:
    report = shown(mended("5.5.0"), mended("5.6.0"), mended("5.7.0"), fixed("5.13.0"), width=width)
    words = " ".join(report.split())
    assert report.startswith("mend on 4 releases\n")
    assert "5.13.0 (fixed upstream)" in report
    for told in ("2 bad to good", "1 good", "1 failing before and after", "in order"):
        assert told in words or width == 80
    # Nothing is in full: no evidence, no place where it ran.
    assert "is bad" not in report
    assert "2.13.0" not in report
    assert max(map(len, report.splitlines())) <= width or "probes" in report.splitlines()[-1]


def test_what_is_not_in_order_follows_in_full() -> None:
    broken = mended("5.6.0", Verdict.BAD)
    failed = PatchedRun("5.4.0", (), (), [], None, failure="0001-one.patch conflicts")
    report = shown(failed, mended("5.5.0"), broken, fixed("5.13.0"))
    overview, _, rest = report.partition("mend on 5.4.0\n")
    assert overview.count("look below") == 2
    assert overview.count("in order") == 2
    assert "not applied 0001-one.patch conflicts" in rest
    assert "mend on 5.6.0" in rest
    assert "max-cache-len is bad" in rest
    assert "mend on 5.5.0" not in rest
    assert "mend on 5.13.0" not in rest
    assert "The series does not apply to 1 of 4." in " ".join(rest.split())


def test_few_are_shown_in_full() -> None:
    report = shown(mended("5.5.0"), fixed("5.13.0"))
    assert "mend on 5.5.0\n" in report
    assert "early-init is bad" in report
    assert "fixed upstream: 0001-one.patch" in report
