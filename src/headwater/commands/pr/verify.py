# SPDX-License-Identifier: Apache-2.0
"""`headwater pr verify`: the evidence of a bundle replayed from the bundle's own patches, figure by figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from headwater.commands.context import Context
from headwater.commands.pr.bundle import Held, hold
from headwater.commands.pr.replay import case_evidence
from headwater.commands.pr.showing import cases_of, show
from headwater.commands.pr.target import recorded_target
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.keys import environment_key
from headwater.core.pr_evidence import EVIDENCE_TEXT, EnvironmentEvidence, PrEvidence
from headwater.core.pr_gate import Difference, count_of_figures, differences
from headwater.core.pr_results import VerifyReport
from headwater.core.releases import parse_version
from headwater.core.results import MOST_REPETITIONS, parse_devices, torch_words
from headwater.core.series import resolve_patch
from headwater.effects.probe import ProbeOptions


def verify(
    context: Context, folder: Path, repo: str | None, wanted: str | None, devices: Sequence[str]
) -> VerifyReport:
    """Run again everything that a bundle's evidence says, or what it says of one patch or on some devices, and compare.
    What is known from earlier runs is not taken.

    Raises:
        BadInput: the folder is no bundle, it names what is not there, or needs a repository.
    """
    held = hold(context, folder)
    parse_devices([*held.evidence.devices, *(one.device for one in held.evidence.left_out)])
    if not 1 <= held.evidence.repeat <= MOST_REPETITIONS:
        raise BadInput(f"{held.folder} says that each probe was made {held.evidence.repeat} times; make it anew")
    recorded = _narrowed(held, wanted, parse_devices(devices))
    _require_cases(held, recorded)
    target = recorded_target(context, recorded.target, repo)
    if recorded.library and target.rules is None:
        raise BadInput("the library's own tests were compared too: name a clone of upstream, or its address, by --repo")
    prober = context.prober(ProbeOptions(fresh=True, repeat=recorded.repeat))
    bundle = replace(held.bundle(), devices=recorded.devices)
    only = resolve_patch(wanted, tuple(one.file for one in recorded.patches)) if wanted else None
    found: list[Difference] = []
    notes: list[str] = []
    failed = False
    try:
        seen = context.mirror.mending(show, context, prober, target, bundle, recorded, only, bool(recorded.library))
        # Where upstream's own files were read no replay can see.
        seen = replace(seen, target=replace(seen.target, rules=recorded.target.rules))
        found += differences(recorded, seen)
        notes += _surroundings(recorded, seen)
        failed = seen.failed
    except PatchFailed as error:
        found.append(Difference("patches", "they apply", str(error)))
    if not held.shows_its_evidence:
        found.append(Difference(EVIDENCE_TEXT, "what evidence.json says", "something else"))
    found += _keys(context, recorded)
    figures = count_of_figures(recorded)
    notes += _cases(context, held)
    return VerifyReport(held.folder, recorded.series, figures, tuple(found), tuple(notes), prober.ran, failed)


def _require_cases(held: Held, recorded: PrEvidence) -> None:
    wanted = [*(case for patch in recorded.patches for case in patch.cases), *cases_of(recorded.left_out)]
    missing = [case for case in wanted if case not in held.cases]
    if missing:
        raise BadInput(f"{held.folder} holds no case {missing[0]}, which its evidence names; make the bundle anew")


def _narrowed(held: Held, wanted: str | None, devices: Sequence[str]) -> PrEvidence:
    """What is to be replayed of the evidence."""
    recorded = held.evidence
    if wanted is not None:
        recorded = recorded.only(resolve_patch(wanted, tuple(one.file for one in recorded.patches)))
    if devices:
        missing = [one for one in devices if one not in recorded.devices]
        if missing:
            raise BadInput(f"{held.folder} has nothing of {missing[0]}; there are {', '.join(recorded.devices)}")
        recorded = recorded.on(tuple(devices))
    return recorded


def _surroundings(recorded: PrEvidence, seen: PrEvidence) -> list[str]:
    """Where the replay ran elsewhere than the evidence was recorded: that is no wrong figure."""
    here = {one.revision: one for one in seen.environments}
    notes = []
    for was in recorded.environments:
        now = here.get(was.revision)
        if now != was:
            notes.append(f"recorded on {_words(was)}; replayed on {_words(now)}")
    return list(dict.fromkeys(notes))


def _words(one: EnvironmentEvidence | None) -> str:
    if one is None:
        return "no environment"
    return f"{torch_words(one.torch)}, Python {one.python}, {one.platform}, {one.name} ({one.key[:12]})"


def _keys(context: Context, recorded: PrEvidence) -> list[Difference]:
    """The keys of recorded environments that do not follow from their parts: a key is made of these and the lock."""
    found = []
    for number, one in enumerate(recorded.environments):
        release = recorded.target.release if one.revision == recorded.target.revision else one.revision
        group = context.workspace.pins.group_of(parse_version(release))
        key = environment_key(context.workspace.lock_text(group.lock), one.torch, one.python, one.platform)
        if (one.key, one.name) != (key, group.name):
            recorded_as = f"{one.name} {one.key}"
            found.append(
                Difference(f"environments[{number}]", recorded_as, f"{group.name} {key}, by this workspace's lock")
            )
    return found


def _cases(context: Context, held: Held) -> list[str]:
    """Cases that the workspace knows otherwise than the bundle: the bundle's were run."""
    own = case_evidence(context.workspace.cases(), held.evidence.cases)
    return [
        f"the case {case} in the bundle is not the one of this workspace; the bundle's was run"
        for case, one in case_evidence(held.cases, held.evidence.cases).items()
        if case in own and own[case] != one
    ]
