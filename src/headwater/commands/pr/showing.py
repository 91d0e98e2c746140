# SPDX-License-Identifier: Apache-2.0
"""What a bundle's patches and cases show on its target, alike where the evidence is made and where it is replayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from headwater.commands.context import Context
from headwater.commands.pr.library import library_lines
from headwater.commands.pr.replay import (
    Bundle,
    case_evidence,
    describe_target,
    environments,
    lay_grounds,
    patch_evidence,
    require_am,
)
from headwater.commands.pr.target import Target
from headwater.core.cases import Case
from headwater.core.pr_evidence import LeftOut, PrEvidence
from headwater.core.states import needless
from headwater.effects.probe import Prober


def show(
    context: Context, prober: Prober, target: Target, bundle: Bundle, said: PrEvidence, only: str | None = None,
    library: bool = True,
) -> PrEvidence:  # fmt: skip
    """The evidence `said` with everything in it that can be seen, as it is seen: of all patches, or of the one of the
    file `only`; the library's own tests with `library`.

    Raises:
        PatchFailed: a patch does not apply, or `git am` refuses it.
    """
    grounds = lay_grounds(context, target, bundle)
    after_am = require_am(context, target, bundle, grounds[0])
    left_out = tuple(_left_out(prober, target, bundle.known, one) for one in said.left_out)
    wanted = [*said.cases, *(case for names in bundle.cases.values() for case in names), *cases_of(left_out)]
    return replace(
        said,
        target=describe_target(target, after_am),
        releases=tuple(ground.bare.revision for ground in grounds[1:]),
        patches=patch_evidence(context, prober, bundle, grounds, only),
        left_out=left_out,
        cases=case_evidence(bundle.known, wanted),
        library=library_lines(context, prober, target, bundle, grounds[0]) if library else (),
        environments=environments(context, grounds),
    )


def cases_of(left_out: Iterable[LeftOut]) -> list[str]:
    """The cases by which patches were left out."""
    return [case for one in left_out for case in one.verdicts]


def _left_out(prober: Prober, target: Target, known: Mapping[str, Case], one: LeftOut) -> LeftOut:
    """A patch that was left out, by what its cases say of the target. Where they say nothing the state is taken as it
    is told: the patch's text is not in the bundle."""
    verdicts = {case: prober.probe(target.subject, known[case], one.device).verdict for case in one.verdicts}
    return replace(one, verdicts=verdicts, state=needless(verdicts.values()) or one.state)
