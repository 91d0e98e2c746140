# SPDX-License-Identifier: Apache-2.0
"""Taking what was measured into an atlas, and comparing it with one."""

from __future__ import annotations

from dataclasses import replace

from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasChange, AtlasEntry
from headwater.core.atlas_update import AtlasCheck, AtlasUpdate, compare, take_in
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Verdict

KNOWN = [Version(text) for text in ("5.0.0", "5.1.0", "5.2.0")]
ATLAS = Atlas(
    (
        AtlasEntry("zebra", Verdict.GOOD, KNOWN[0], KNOWN[0]),
        AtlasEntry("zebra", Verdict.BAD, KNOWN[1], KNOWN[2]),
    ),
    (AtlasChange("zebra", "introduced", KNOWN[1], "a" * 40),),
    tuple(KNOWN),
)


def row(release: str, verdict: Verdict, device: str = "cpu") -> ProbeResult:
    evidence = Evidence("RuntimeError", f"{verdict.words} here")
    return ProbeResult("zebra", release, None, device, verdict, evidence, 0.1, False, "tree", "environment")


def take(*rows: ProbeResult) -> AtlasUpdate:
    return take_in(ATLAS, rows, KNOWN, ["zebra"])


def test_what_was_seen_again_changes_nothing() -> None:
    update = take(row("5.0.0", Verdict.GOOD), row("5.1.0", Verdict.BAD))
    assert (update.differences, update.unclear, update.unwritten, update.gaps, update.dropped) == ((), (), (), (), ())
    assert update.atlas == ATLAS


def test_devices_that_disagree_are_told_and_not_written() -> None:
    update = take(row("5.0.0", Verdict.BAD), row("5.0.0", Verdict.GOOD, "meta"))
    [one] = update.unwritten
    assert one.why == "the devices disagree: bad on cpu, good on meta"
    assert not one.harness
    assert update.atlas == ATLAS


def test_devices_that_agree_are_one_cell_and_one_that_is_not_there_has_no_say() -> None:
    update = take(
        row("5.0.0", Verdict.BAD), row("5.0.0", Verdict.BAD, "meta"), row("5.0.0", Verdict.UNAVAILABLE, "xpu")
    )
    assert update.unwritten == ()
    assert [(one.release, one.recorded, one.seen) for one in update.differences] == [
        (KNOWN[0], Verdict.GOOD, Verdict.BAD)
    ]


def test_a_harness_error_on_one_device_leaves_the_cell_as_it_was() -> None:
    update = take(row("5.0.0", Verdict.BAD), row("5.0.0", Verdict.HARNESS_ERROR, "meta"))
    [one] = update.unwritten
    assert one.harness
    assert one.why == "harness error on meta: harness error here"
    assert update.atlas == ATLAS


def test_what_could_not_be_judged_is_written_and_told() -> None:
    update = take(row("5.2.0", Verdict.UNTESTABLE), row("5.0.0", Verdict.GOOD))
    assert [(one.release, one.seen) for one in update.unclear] == [(KNOWN[2], Verdict.UNTESTABLE)]
    assert update.atlas.expected("zebra", KNOWN[2]) is Verdict.UNTESTABLE
    # Also where it is what the atlas says already.
    again = take_in(update.atlas, [row("5.2.0", Verdict.UNTESTABLE)], KNOWN, ["zebra"])
    assert (again.differences, len(again.unclear)) == ((), 1)


def test_the_commit_of_a_change_over_goes_with_it_and_that_is_told() -> None:
    update = take(row("5.1.0", Verdict.GOOD))
    assert update.dropped == ATLAS.changes
    assert update.atlas.changes == ()
    assert take(row("5.2.0", Verdict.GOOD)).atlas.changes == ATLAS.changes


def test_a_check_names_what_no_longer_holds() -> None:
    check = compare(ATLAS, [row("5.0.0", Verdict.GOOD), row("5.1.0", Verdict.OTHER_FAILURE), row("5.2.0", Verdict.BAD)])
    assert (check.held, check.unmeasured, check.exit_status) == (2, (), 1)
    [one] = check.broken
    assert (one.case, one.release, one.recorded, one.seen) == ("zebra", KNOWN[1], Verdict.BAD, Verdict.OTHER_FAILURE)
    assert one.evidence.message == "other failure here"


def status_of(*rows: ProbeResult) -> int:
    return compare(ATLAS, rows).exit_status


def test_what_was_not_measured_does_not_hold() -> None:
    assert status_of(row("5.0.0", Verdict.GOOD)) == 0
    assert status_of(row("5.0.0", Verdict.UNAVAILABLE)) == 1
    assert status_of(row("5.0.0", Verdict.HARNESS_ERROR), row("5.1.0", Verdict.GOOD)) == 5
    whole = AtlasCheck(3, (), (), ())
    assert (whole.exit_status, replace(whole, interrupted=True).exit_status) == (0, 130)
