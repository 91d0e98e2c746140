# SPDX-License-Identifier: Apache-2.0
"""`headwater pr check`: the gate. Every reason why a bundle must not be sent, not only the first."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

from headwater.commands.context import Context
from headwater.commands.pr.bundle import Held, hold
from headwater.commands.pr.replay import Ground, case_evidence, lay_grounds, require_am
from headwater.commands.pr.target import Target, find_target, recorded_target
from headwater.core.errors import HarnessError, PatchFailed
from headwater.core.pr_body import faults_of_body, go_ahead
from headwater.core.pr_copies import hand_edits
from headwater.core.pr_evidence import BODY, EVIDENCE_TEXT
from headwater.core.pr_gate import Kind, Reason, by_hand, not_red_and_green, older_than
from headwater.core.pr_mail import note_on_authors
from headwater.core.pr_results import GateReport, fixed_in
from headwater.core.states import PatchState, needless
from headwater.core.verdicts import Verdict
from headwater.effects.merging import Bench
from headwater.effects.probe import ProbeOptions, Prober
from headwater.effects.ruff import PLAIN_RULES, PLAIN_SETTINGS, SETTINGS, complaints, ruff_version
from headwater.effects.series_folder import series_names


def check(context: Context, folder: Path, repo: str | None) -> GateReport:
    """Look for everything that keeps a bundle from being sent.

    Raises:
        BadInput: the folder is no bundle, or it is for a commit and no repository is named.
    """
    held = hold(context, folder)
    target = recorded_target(context, held.evidence.target, repo)
    gate = _Gate(context, held, target)
    gate.run(repo)
    return GateReport(held.folder, held.evidence.series, tuple(gate.reasons), tuple(gate.notes))


@dataclass
class _Gate:
    """One look at one bundle; `target` is the one that its evidence was recorded on."""

    context: Context
    held: Held
    target: Target
    reasons: list[Reason] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run(self, repo: str | None) -> None:
        """Look at everything."""
        self._body()
        self._contents()
        now = self._moved(repo)
        ground = self.context.mirror.mending(self._ground)
        self.reasons += not_red_and_green(self.held.evidence)
        if note := note_on_authors(self.held.bundle().patches):
            self.notes.append(note)
        if ground is not None:
            self._files(ground)
        self._fixed(now)

    def _refuse(self, kind: Kind, text: str) -> None:
        self.reasons.append(Reason(kind, text))

    def _body(self) -> None:
        body = self.held.text(BODY)
        if body is None:
            self._refuse("body-unwritten", f"there is no {BODY}; `headwater pr` makes one to be filled in")
            return
        for fault in faults_of_body(body, self.held.evidence.headings):
            self._refuse("body-unwritten", fault)
        if go_ahead(body) is None:
            self._refuse("no-go-ahead", f"{BODY} names no address after `Go-ahead:` at which a maintainer agrees to it")

    def _contents(self) -> None:
        """Whether the evidence is of the very patches, cases and series."""
        held, evidence = self.held, self.held.evidence
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in held.patches.items()}
        self.reasons += older_than(evidence, sums, case_evidence(held.cases, evidence.cases), self._series())
        if not held.shows_its_evidence:
            self._refuse("evidence-older", f"{EVIDENCE_TEXT} does not say what evidence.json says; make both anew")

    def _series(self) -> dict[str, str]:
        """The sums of the series' patches by subject, as the workspace has them now for the target."""
        name, workspace = self.held.evidence.series, self.context.workspace
        if name not in series_names(workspace.patches):
            self.notes.append(f"the workspace has no series {name}: whether it has changed since was not looked at")
            return {}
        series = workspace.series(name)
        variant = series.variant_for(self.target.version)
        own = {patch.file: patch for patch in variant.patches} if variant else {}
        patches = [own.get(patch.file, patch) for patch in series.patches]
        return {patch.subject: hashlib.sha256(patch.content).hexdigest() for patch in patches}

    def _moved(self, repo: str | None) -> Target:
        """The target as its word names it now."""
        known = self.held.evidence.target
        if known.kind == "release" and known.word != "newest":
            now = self.target
        else:
            now = find_target(self.context, known.word, repo)
        if now.subject.tree != known.tree:
            self._refuse(
                "other-tree",
                f"the evidence is from another tree: {known.word} is {now.subject.revision[:12]} with the tree "
                f"{now.subject.tree[:12]}, and it was probed on {known.tree[:12]}; `headwater pr` makes it anew",
            )
        elif now.subject.revision != known.revision:
            self.notes.append(f"{known.word} is {now.subject.revision[:12]} by now; the library's tree is the same")
        return now

    def _ground(self) -> Ground | None:
        """The target with the bundle's patches, where they still make the trees that were probed."""
        evidence = self.held.evidence
        bundle = replace(self.held.bundle(), releases=())
        try:
            [ground] = lay_grounds(self.context, self.target, bundle)
            whole = require_am(self.context, self.target, bundle, ground)
        except PatchFailed as error:
            self._refuse("other-tree", f"the patches do not apply to {evidence.target.revision[:12]}: {error}")
            return None
        known = {one.file: one.trees.get(evidence.target.revision) for one in evidence.patches}
        for patch, stage in zip(bundle.patches, ground.stages, strict=True):
            if known.get(patch.file) not in (None, stage.subject.tree):
                tree = stage.subject.tree[:12]
                self._refuse("other-tree", f"with {patch.file} the library's tree is {tree}, and another was probed")
        if whole != evidence.target.after_am:
            self._refuse("other-tree", f"`git am` makes the whole tree {whole[:12]}, and another one is recorded")
        return ground

    def _files(self, ground: Ground) -> None:
        """What upstream's own tools would say of the files as the patches leave them."""
        paths = sorted({path for patch in self.held.bundle().patches for path in patch.paths})
        with self.context.cache.building("check") as folder:
            bench = Bench(self.context.mirror.git, folder)
            before, after = (bench.contents(one, paths) for one in (self.target.commit, ground.stages[-1].commit))
            self._edited(before, after)
            try:
                self._style(folder, before, after)
            except HarnessError as error:
                self._refuse("style", f"whether ruff complains could not be seen: {error}")

    def _edited(self, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        sides = [{path: text.decode("utf-8", "replace") for path, text in side.items()} for side in (before, after)]
        edits = hand_edits(sides[0], sides[1], self.context.workspace.pins.package)
        self.reasons += by_hand(edits)
        self.notes += [
            f"{edit.path} is made from {edit.source}, which changes too; upstream's `make fix-repo` must agree"
            for edit in edits
            if edit.kept
        ]

    def _style(self, folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        settings, origin = self._settings()
        self.notes.append(f"ruff {ruff_version()} looked, by {origin}")
        found = []
        for name, files in (("before", before), ("after", after)):
            (folder / name).mkdir()
            found.append(complaints(folder / name, settings, files))
        # What a file had against it before is no matter of the patches.
        for complaint, count in (found[1] - found[0]).items():
            times = f" ({count} times)" if count > 1 else ""
            self._refuse("style", f"{complaint.path}: {complaint.code}: {complaint.text}{times}")

    def _settings(self) -> tuple[bytes, str]:
        """ruff's settings as upstream has them at the target, and in words where they are from."""
        target = self.target
        places = [target.rules] if target.rules else []
        if target.kind == "release":
            places.append(self.context.sdist(target.subject.pin))
        for files in places:
            try:
                settings = files.read(SETTINGS)
            except HarnessError as error:
                self.notes.append(f"{SETTINGS} of {files.revision[:12]} cannot be had: {error}")
                continue
            if settings is not None:
                return settings, f"{SETTINGS} of {files.revision[:12]}"
        rules = f"the rules {', '.join(PLAIN_RULES)} at 119 characters a line"
        return PLAIN_SETTINGS, f"{rules}: neither a checkout (--repo) nor an sdist has upstream's settings"

    def _fixed(self, now: Target) -> None:
        """Whether upstream has its own fix on the target as it is now."""
        evidence, context = self.held.evidence, self.context
        prober = context.prober(ProbeOptions())
        shown = [patch for patch in evidence.patches if patch.cases]
        states = [needless([self._verdict(prober, now, case) for case in patch.cases]) for patch in shown]
        if not shown or any(state is not PatchState.FIXED_UPSTREAM for state in states):
            return
        cases = [case for patch in shown for case in patch.cases]
        since = fixed_in(context.workspace.atlas, cases, now.version)
        when = f"fixed upstream in {since}" if since else "fixed upstream"
        self._refuse("fixed-upstream", f"{when}: every case is good on {now.subject.revision[:12]} as it is")

    def _verdict(self, prober: Prober, now: Target, case: str) -> Verdict | None:
        """What a case says of the target without the patches: by the atlas where that knows the release."""
        known = self.context.workspace.atlas.expected(case, now.release)
        if known is not None or case not in self.held.cases:
            return known
        return prober.probe(now.subject, self.held.cases[case], self.held.evidence.devices[0]).verdict
