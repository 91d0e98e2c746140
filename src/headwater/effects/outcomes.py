# SPDX-License-Identifier: Apache-2.0
"""What happened in a probe, from what the child said and from how it ended."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headwater.core.keys import Limits
from headwater.core.targets import end_of_status
from headwater.core.test_results import parse
from headwater.core.verdicts import End, Evidence, Outcome
from headwater.effects.watch import ChildRun

_STATUS = re.compile(r"ExitStatus(\d+)")


def outcome_of(run: ChildRun, limits: Limits) -> Outcome:
    """What happened, from what the child said and from how it ended.

    A child that ended without saying how its case ended is never taken for one that returned.

    Raises:
        HarnessError: what it said of its tests cannot be read.
    """
    said = run.last("outcome")
    phase = (run.last("phase") or {"phase": "start"})["phase"]
    # Up to here neither the library nor the case has run: a failure is the environment's, or ours.
    early = phase in ("start", "device")
    if run.stop == "time-limit":
        evidence = Evidence("TimeLimit", f"no end within {limits.seconds} s")
        return Outcome("harness" if early else "time-limit", phase, evidence, run.seconds)
    if run.stop == "output-limit":
        evidence = Evidence("OutputLimit", f"printed more than {limits.output} bytes")
        return Outcome("output-limit", phase, evidence, run.seconds)
    if said is not None and said["end"] == "returned" and (run.left or run.last("copy")):
        evidence = Evidence("CaseMisbehaved", "it returned, and a process that it began had not ended")
        return Outcome("raised", phase, evidence, run.seconds)
    if said is not None and (said["end"] != "returned" or run.status == 0):
        return _as_said(said, run)
    if run.stop == "process-limit":
        evidence = Evidence("ProcessLimit", f"had more than {limits.processes} processes")
        return Outcome("process-limit", phase, evidence, run.seconds)
    if (damage := run.last("damage")) is not None:
        evidence = Evidence("DamagedTree", f"{damage['path']} is damaged again after it was built anew")
        return Outcome("harness", phase, evidence, run.seconds)
    died = Evidence("ProcessDied", how_it_ended(run))
    # Nothing here sends that signal to a probe that is within its limits: the kernel does when memory runs out.
    end: End = "harness" if early else "killed" if run.status == -signal.SIGKILL else "died"
    return Outcome(end, phase, died, run.seconds)


def _as_said(said: Mapping[str, Any], run: ChildRun) -> Outcome:
    """What the child said; the exceptions by which the cases that Headwater brings pass on exit statuses, and that no
    test ran, are ends of their own."""
    evidence = Evidence(said["type"], said["message"], said["frame"])
    end: End = said["end"]
    spoken = _STATUS.fullmatch(said["type"] or "")
    if spoken is not None:
        # What a process printed is known here, and nowhere in the process.
        evidence = replace(evidence, message=_last_line(run))
        end = end_of_status(int(spoken[1]))
    elif said["type"] == "NoTestRan":
        end = "skipped"
    told = run.last("tests")
    tests = parse(told["results"]) if told is not None else ()
    return Outcome(end, said["phase"], evidence, run.seconds, said["import_failure"], tests)


def _last_line(run: ChildRun) -> str:
    return (run.output.strip().splitlines()[-1:] or ["it printed nothing"])[0].strip()


def how_it_ended(run: ChildRun) -> str:
    """How a child ended that did not say so, and its last line."""
    last = _last_line(run)
    if run.status < 0:
        return f"ended by signal {-run.status} ({signal.strsignal(-run.status)}); {last}"
    return f"ended with status {run.status} before it was done; {last}"
