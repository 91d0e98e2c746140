# SPDX-License-Identifier: Apache-2.0
"""The conformance suite before and after a series: no test that held may cease to hold."""

from __future__ import annotations

from dataclasses import replace

from headwater.commands.context import Context
from headwater.core.events import Note
from headwater.core.results import Comparison, ProbeResult
from headwater.core.test_results import compare
from headwater.core.verdicts import Verdict
from headwater.effects.probe import Prober, Subject

TITLE = "conformance"


def note_missing_suite(context: Context) -> None:
    """Say where a workspace has no suite: what was not run is not passed."""
    if context.workspace.conformance() is None:
        context.emit(
            Note("the conformance suite is not available: the workspace has no tests/conformance", warning=True)
        )


def conformance_lines(
    context: Context, prober: Prober, before: Subject, after: Subject, device: str
) -> list[Comparison]:
    """The suite's line for one device: one, or none where the workspace has no suite.

    Failures that the unpatched release has are no matter of the patches: such a run is as expected as long as no test
    fails anew and none that passed has ceased to run.
    """
    case = context.workspace.conformance()
    if case is None:
        return []
    return [comparison(prober.probe(before, case, device), prober.probe(after, case, device))]


def comparison(before: ProbeResult, after: ProbeResult, title: str = TITLE) -> Comparison:
    """Compare two runs of a suite test by test, where both came to an end."""
    ran = (Verdict.GOOD, Verdict.BAD)
    if before.verdict not in ran or after.verdict not in ran:
        # What did not come to its end compares with nothing.
        return Comparison(title, as_it_is(before), as_it_is(after))
    changes = compare(before.tests, after.tests)
    wanted = after.verdict if changes.sound else Verdict.GOOD
    return Comparison(title, as_it_is(before), replace(after, expected=wanted), changes)


def as_it_is(row: ProbeResult) -> ProbeResult:
    """A suite ends as `good`, as `bad` with the failures that a release has, or as `absent` where the release has no
    such tests; nothing else is in order."""
    known = row.verdict in (Verdict.BAD, Verdict.ABSENT)
    return replace(row, expected=row.verdict if known else Verdict.GOOD)
