# SPDX-License-Identifier: Apache-2.0
"""What a set of probes comes to: nothing that was not seen as expected may pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headwater.core.errors import BadInput
from headwater.core.results import (
    Comparison,
    PatchedReport,
    PatchedRun,
    ProbeResult,
    ReproReport,
    Surroundings,
    also_mended,
    devices_of_patches,
    exit_status,
    has_accelerator,
    parse_devices,
    torch_words,
)
from headwater.core.verdicts import Evidence, Verdict

PASSING = {Verdict.GOOD, Verdict.ABSENT}


def row(verdict: Verdict, expected: Verdict | None = None) -> ProbeResult:
    return ProbeResult(
        "early-init", "5.10.1", None, "cpu", verdict, Evidence(), 1.0, False, "1" * 40, "e" * 64, expected
    )


@pytest.mark.parametrize(
    ("words", "devices"),
    [
        (["cpu"], ["cpu"]),
        (["cpu,meta", " cuda "], ["cpu", "meta", "cuda"]),
        (["cuda:1,cpu", "cpu,cuda:1"], ["cuda:1", "cpu"]),
        (["mps, xpu:0"], ["mps", "xpu:0"]),
        ([], []),
    ],
)
def test_devices(words: list[str], devices: list[str]) -> None:
    assert parse_devices(words) == devices


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("", ""), ("gpu", "the nearest are xpu, cpu; "), ("cpu:0", "the nearest is cpu; "),
        ("cuad", "the nearest is cuda; "),
        ("cuda:", "the nearest is cuda; "), ("cuda:x", "the nearest is cuda; "), ("cpu,,meta", ""), ("CPU", ""),
        ("cuda:1 2", "the nearest is cuda; "),
    ],
)  # fmt: skip
def test_no_device(word: str, near: str) -> None:
    with pytest.raises(BadInput, match=f"is no device; {near}there are cpu, meta, cuda, mps and xpu"):
        parse_devices([word])


@pytest.mark.parametrize(
    ("device", "has"), [("cpu", False), ("meta", False), ("cuda:1", True), ("mps", True), ("xpu", True)]
)
def test_accelerators(device: str, has: bool) -> None:
    assert has_accelerator(device) is has


@pytest.mark.parametrize("verdict", Verdict)
def test_without_an_expectation_only_good_and_absent_pass(verdict: Verdict) -> None:
    assert row(verdict).as_expected == (verdict in PASSING)


@pytest.mark.parametrize("expected", Verdict)
@pytest.mark.parametrize("verdict", Verdict)
def test_what_is_expected_passes(verdict: Verdict, expected: Verdict) -> None:
    assert row(verdict, expected).as_expected == (verdict is expected)


@pytest.mark.parametrize("verdict", Verdict)
def test_exit_status(verdict: Verdict) -> None:
    status = 5 if verdict is Verdict.HARNESS_ERROR else int(verdict not in PASSING)
    for rows in (
        [row(verdict)],
        [row(Verdict.GOOD), row(verdict)],
        [row(verdict), row(Verdict.BAD, Verdict.BAD)],
    ):
        assert exit_status(rows) == status
    assert exit_status([row(verdict), row(Verdict.BAD)]) == max(status, 1)


def test_nothing_probed_is_nothing_passed() -> None:
    assert exit_status([]) == 1


@pytest.mark.parametrize("expected", [None, *Verdict])
@pytest.mark.parametrize("verdict", Verdict)
def test_only_good_instead_of_bad_is_mended_beside(verdict: Verdict, expected: Verdict | None) -> None:
    seen = row(verdict, expected)
    mended = (expected, verdict) == (Verdict.BAD, Verdict.GOOD)
    assert also_mended(seen) == (replace(seen, expected=Verdict.GOOD) if mended else seen)
    assert also_mended(seen).as_expected == (seen.as_expected or mended)


def test_words_of_torch() -> None:
    assert (devices_of_patches("2.13.0"), torch_words("2.13.0+cpu")) == (["cpu", "meta"], "torch 2.13.0+cpu")
    assert (devices_of_patches(None), torch_words(None)) == (["cpu"], "no torch")


@pytest.mark.parametrize(
    ("after", "failure", "interrupted", "status"),
    [
        (Verdict.GOOD, None, False, 0),
        (Verdict.BAD, None, False, 1),
        (Verdict.HARNESS_ERROR, None, False, 5),
        (Verdict.GOOD, "does not apply", False, 1),
        (Verdict.GOOD, None, True, 130),
    ],
)
def test_a_patched_run_must_apply_and_mend(after: Verdict, failure: str | None, interrupted: bool, status: int) -> None:
    line = Comparison("early-init", row(Verdict.BAD, Verdict.BAD), row(after, Verdict.GOOD))
    run = PatchedRun("5.10.1", (), ("1.patch",), [line], None, failure)
    report = PatchedReport("s", [run], 2, interrupted)
    assert report.exit_status == status
    assert run.in_order == (after is Verdict.GOOD and failure is None)


def test_nothing_probed_is_not_as_expected() -> None:
    assert PatchedReport("s", [], 0, False).exit_status == 1


@pytest.mark.parametrize("verdict", Verdict)
def test_who_interrupts_a_run_is_told_so_whatever_it_saw(verdict: Verdict) -> None:
    surroundings = Surroundings("library", "5.10.1", None, "3.11.7", "linux", None, None, ("cpu",))
    assert ReproReport([row(verdict)], surroundings, 1, interrupted=True).exit_status == 130
    assert ReproReport([row(verdict)], surroundings, 1, interrupted=False).exit_status == exit_status([row(verdict)])
