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


def comparison(before: ProbeResult, after: ProbeResult) -> Comparison:
    """Compare two runs of the suite test by test, where both came to an end."""
    ran = (Verdict.GOOD, Verdict.BAD)
    if before.verdict not in ran or after.verdict not in ran:
        # What did not come to its end compares with nothing, and is not as expected.
        return Comparison(TITLE, _expecting(before), _expecting(after))
    changes = compare(before.tests, after.tests)
    wanted = after.verdict if changes.sound else Verdict.GOOD
    return Comparison(TITLE, _expecting(before), replace(after, expected=wanted), changes)


def _expecting(row: ProbeResult) -> ProbeResult:
    """A suite ends as `good`, or as `bad` with the failures that a release has; nothing else is in order."""
    return replace(row, expected=Verdict.BAD if row.verdict is Verdict.BAD else Verdict.GOOD)
