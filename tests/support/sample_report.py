# SPDX-License-Identifier: Apache-2.0
"""A report of the size that the atlas is to have, made up: every verdict, evidence, hunts, a reduction, series."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from headwater.core.answers import HuntAnswer, ReductionAnswer, read_answer
from headwater.core.atlas import Atlas, AtlasChange, AtlasEntry
from headwater.core.auditing import Remedy, audit_release
from headwater.core.cases import DEVICES, SEVERITIES, Case
from headwater.core.patch_results import PatchStatus, ReleaseStatus, SeriesStatus
from headwater.core.pins import Pins, read_pins
from headwater.core.report_data import PatchOf, ReportData, Seen, report_data
from headwater.core.states import PatchState
from headwater.core.verdicts import Evidence, Signature, Verdict

ROOT = Path(__file__).resolve().parent.parent.parent
V = Verdict
# What begins where in the history of a case, as parts of all releases.
SHAPES: list[list[tuple[float, Verdict]]] = [
    [(0, V.ABSENT), (0.3, V.BAD), (0.6, V.GOOD)],
    [(0, V.BAD), (0.4, V.GOOD)],
    [(0, V.GOOD), (0.2, V.OTHER_FAILURE), (0.25, V.BAD), (0.8, V.GOOD)],
    [(0, V.ABSENT), (0.7, V.BAD)],
    [(0, V.BAD), (0.2, V.GOOD), (0.35, V.BAD), (0.55, V.GOOD)],
    [(0, V.UNTESTABLE), (0.15, V.BAD), (0.5, V.FLAKY), (0.65, V.GOOD)],
    [(0, V.GOOD)],
]
NAMES = ["static", "dynamic", "sliding", "hybrid", "mamba", "crop", "reorder", "batch", "prefill", "quantized"]


def sample_pins() -> Pins:
    """The workspace's own pins."""
    return read_pins((ROOT / "upstream" / "transformers.toml").read_text(encoding="utf-8"), "transformers.toml")


def sample_case(number: int) -> Case:
    """One of many cases."""
    words = [NAMES[number % len(NAMES)], NAMES[(number * 5 + 3) % len(NAMES)], str(number)]
    return Case(
        id="-".join(words), title=f"The {words[0]} cache is wrong after {words[1]} <b>& more</b>", file="case.py",
        references=(f"huggingface/transformers#{40000 + number}",), severity=SEVERITIES[number % len(SEVERITIES)],
        signatures=(Signature("RuntimeError", "size"),), time_limit=120, network=False,
        user_sees="The first forward pass after a reset fails, or gives other tokens than a fresh cache does.",
        meanwhile="Make a new cache in place of the old one.", files={}, open=number == 3,
        applies=SpecifierSet(">=5.15") if number == 3 else None,
        same_as=("dynamic-prefill-1",) if number == 0 else (), devices=("cpu", "cuda") if number == 3 else DEVICES,
    )  # fmt: skip


def sample_report(cases: int = 42, devices: tuple[str, ...] = ("cpu", "meta", "cuda"), seed: int = 1) -> ReportData:
    """A whole report over all pinned releases. The same arguments give the same report."""
    pins, chance = sample_pins(), random.Random(seed)
    versions = pins.versions
    known = {case.id: case for case in map(sample_case, range(cases))}
    entries, seen = [], []
    for number, case in enumerate(known.values()):
        shape = SHAPES[number % len(SHAPES)]
        # Of every third case the last device has only what was recorded by an earlier text of it.
        current = {device: bool(number % 3) or device != devices[-1] for device in devices}
        starts = [int(part * len(versions)) for part, _ in shape]
        for (_, verdict), start, end in zip(shape, starts, [*starts[1:], len(versions)], strict=True):
            entries.append(AtlasEntry(case.id, verdict, versions[start], versions[end - 1]))
            for place in range(start, end):
                tree = pins.releases[place].tree or ""
                seen += [_seen(case, tree, device, verdict, place, current[device], chance) for device in devices]
    changes = (
        AtlasChange(next(iter(known)), "introduced", versions[int(0.3 * len(versions))], "2db" + "0" * 37, 44950),
    )
    atlas = Atlas(tuple(entries), changes)
    first = next(iter(known))
    patches = [PatchOf("mend", "0001-mend.patch", "mend it", "5.10.1", (first,))]
    remedies = {first: (Remedy("mend", "0001-mend.patch", None, Version("5.10.1")),)}
    audits = {v: audit_release(atlas, known, v, versions, set(), remedies) for v in versions}
    trees = {pin.version: pin.tree for pin in pins.releases if pin.tree}
    return report_data(pins, atlas, known, trees, seen, patches, [_status(pins)], audits, sample_answers(first), {})


def _seen(
    case: Case, tree: str, device: str, verdict: Verdict, place: int, current: bool, chance: random.Random
) -> Seen:
    line = 700 + place
    said = Evidence(
        "RuntimeError",
        f"The size of tensor a ({place // 9}) must match",
        f"transformers/cache_utils.py:{line} in update",
    )
    if chance.random() < 0.004:
        verdict = V.GOOD
    evidence = Evidence() if verdict is V.GOOD else said
    recorded = f"2026-11-{10 + place % 20:02d}T10:{chance.randrange(60):02d}:00+00:00"
    return Seen(case.id, tree, device, verdict, evidence, f"{place % 3}" * 64, recorded, current)


def _status(pins: Pins) -> SeriesStatus:
    def state(version: Version) -> PatchState:
        if version < Version("5.5.0"):
            return PatchState.ABSENT
        return PatchState.FIXED_UPSTREAM if version >= Version("5.13.0") else PatchState.CLEAN

    releases = [ReleaseStatus(str(v), None, (PatchStatus("0001-mend.patch", state(v), ""),)) for v in pins.versions]
    return SeriesStatus("mend", "5.10.1", ("0001-mend.patch",), tuple(releases))


def probe(revision: str, verdict: str, message: str | None = None) -> dict[str, Any]:
    """A probe as `--output` writes it, as far as a report reads it."""
    evidence = {"type": "RuntimeError" if message else None, "message": message, "frame": None}
    return {"revision": revision, "device": "cpu", "verdict": verdict, "evidence": evidence, "repetitions": 1}


DIFF = """\
diff --git a/src/transformers/cache_utils.py b/src/transformers/cache_utils.py
index 46f4620..3a3f0f8 100644
--- a/src/transformers/cache_utils.py
+++ b/src/transformers/cache_utils.py
@@ -44,3 +44,4 @@ class Some:
 one
 two
+three </script><!-- & <b>
 four
@@ -80,2 +81,1 @@ class Other:
-five
 six
"""


def hunt_document(case: str) -> dict[str, Any]:
    """What `bisect --output` writes of a hunt over releases and then over commits."""
    culprit = "2db" + "0" * 37
    probes = [
        probe("5.4.0", "absent"), probe("5.10.0", "bad", "size"), probe("5.7.0", "other-failure", "x"),
        probe("5.6.0", "bad", "size"), probe("5.5.0", "bad", "size"), probe(culprit, "bad", "size"),
        probe("a" * 40, "absent"),
    ]  # fmt: skip
    changes = [
        {"find": "introduced", "last_good": "5.4.0", "first_bad": "5.5.0"},
        {"find": "introduced", "last_good": "a" * 40, "first_bad": culprit},
    ]
    return {
        "schema": 1, "command": "bisect", "what": case, "find": "introduced", "result": "found", "changes": changes,
        "probes": probes, "notes": ["a note"], "reproduce": f"headwater bisect {case}", "reduction": None,
        "commits": {"count": 300, "places": {"a" * 40: 120, culprit: 121}},
    }  # fmt: skip


def reduction_document(case: str) -> dict[str, Any]:
    """What `reduce --output` writes."""
    stages = [("all", 634, 3480, 47685, 0), ("kept", 17, 90, 1229, 1), ("pairs", 1, 2, 2, 8)]
    names = ("name", "files", "hunks", "lines", "probes")
    file = "transformers/cache_utils.py"
    rows = [("kept", 90, "flips", "good", 90), ("core", 3, "stays", "bad", 90), ("core", 2, "flips", "good", 2)]
    events = [
        {"stage": stage, "files": 1, "hunks": hunks, "lines": hunks, "outcome": outcome, "probe": number + 2,
         "left": {"files": 1, "hunks": left, "lines": left}}
        for number, (stage, hunks, outcome, _, left) in enumerate(rows)
    ]  # fmt: skip
    return {
        "schema": 1, "command": "reduce", "case": case, "device": "cpu", "from": "5.12.1", "to": "5.13.0",
        "verdicts": ["bad", "good"], "result": "found", "minimal": True, "diff": DIFF, "asked": 8,
        "stages": [dict(zip(names, stage, strict=True)) for stage in stages], "events": events,
        "probes": [probe("5.12.1", "bad"), probe("5.13.0", "good"), *(probe("x", row[3]) for row in rows)],
        "hunks": [
            {"file": file, "header": "@@ -45,0 +46 @@", "needed_by": probe("x", "bad", "no size"), "without": "stays",
             "commit": None},
            {"file": file, "header": "@@ -80 +81,0 @@", "needed_by": None, "without": None, "commit": "b" * 40},
        ],
    }  # fmt: skip


def sample_answers(case: str) -> list[HuntAnswer | ReductionAnswer]:
    """A hunt and a reduction about a case."""
    documents = (hunt_document(case), reduction_document(case))
    return [answer for document in documents for answer in read_answer(json.dumps(document), "sample")]
