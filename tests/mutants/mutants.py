# SPDX-License-Identifier: Apache-2.0
"""How many mistakes in the library's caches the conformance suite notices.

Mutants of one file of a release are made by the operators below, on lines that the suite runs; each is a tree with that
file replaced, probed as any other tree. Status 0 where at least 90 % are caught, and each that is not has its reason in
survivors.toml; 1 where not; 5 where a mutant could not be judged.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from mutations import OPERATORS, Mutant, chosen, mutants
from rich.console import Console

from headwater.commands.context import Context
from headwater.core.cases import Case, read_case
from headwater.core.changesets import TreeFile
from headwater.core.errors import BadInput, HarnessError, HeadwaterError
from headwater.core.redaction import redact
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Verdict
from headwater.effects.git import shed_git_variables
from headwater.effects.merging import Bench
from headwater.effects.partial_trees import PartialTrees
from headwater.effects.probe import ProbeOptions, Prober, Subject
from headwater.report.progress import ProgressReport

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CASE = "first_failure.py"
DEVICE = "cpu"
LEAST = 0.9


@dataclass(frozen=True)
class Judged:
    """A mutant, and what the suite said of it."""

    mutant: Mutant
    row: ProbeResult

    @property
    def caught(self) -> bool:
        """Whether a test failed, or the suite did not come to its end."""
        return self.row.verdict not in (Verdict.GOOD, Verdict.HARNESS_ERROR)


class Laboratory:
    """Judges mutants of one file of one release by the workspace's conformance suite."""

    def __init__(self, context: Context, release: str, path: str) -> None:
        self._context, self._path = context, f"{context.workspace.pins.package}/{path}"
        suite = context.workspace.conformance()
        if suite is None:
            raise BadInput("the workspace has no tests/conformance")
        self._suite = suite
        self.prober: Prober = context.prober(ProbeOptions())
        pin = context.workspace.pins.find(release)
        self._base: Subject = context.subjects.release(pin)
        context.mirror.ensure(pin)
        package, tree = context.workspace.pins.package, self._base.tree
        self._trees = PartialTrees(context.cache, context.mirror.git, context.trees, package, tree, tree)
        with context.cache.building("mutants") as folder:
            contents = Bench(context.mirror.git, folder).contents(tree, [path])
        if path not in contents:
            raise BadInput(f"{release} has no {self._path}")
        self._source = contents[path]

    def every(self) -> list[Mutant]:
        """All mutants on lines that the suite runs."""
        recording = self.prober.record(self._base, self._suite, DEVICE)
        return mutants(self._source, recording.lines.get(self._path, frozenset()))

    def case(self) -> Case:
        """The suite as a case that ends at the first test that passes on the release and does not on a mutant.

        Raises:
            HarnessError: the suite did not come to its end on the release.
        """
        row = self.prober.probe(self._base, self._suite, DEVICE)
        if row.verdict not in (Verdict.GOOD, Verdict.BAD):
            raise HarnessError(f"the suite on {row.revision}: {row.verdict.words}: {row.evidence.message}")
        passed = [one.name for one in row.tests if one.result == "passed"]
        source = (HERE / CASE).read_bytes()
        files = {**self._suite.files, CASE: source, "passed.json": json.dumps(passed).encode()}
        return replace(read_case(CASE, source.decode(), files), files=files)

    def judge(self, mutant: Mutant, case: Case) -> Judged:
        """Probe one mutant, or recall what is known of it."""
        tree = self._trees.make({self._path: TreeFile(mutant.applied(self._source), "100644")})
        revision = f"{self._base.revision} with a mutant at line {mutant.line}"
        subject = replace(self._base, revision=revision, tree=tree, lay_out=self._trees.passing(tree), release=None)
        try:
            return Judged(mutant, self.prober.probe(subject, case, DEVICE))
        finally:
            self._trees.let_go(tree)


def arguments(release: str, mutant: Mutant, survivors: Sequence[dict[str, object]]) -> str | None:
    """Why it is no fault of the suite that a mutant survives; None where nobody has said."""
    wanted = {"release": release, "line": mutant.line, "operator": mutant.operator, "after": mutant.after}
    for one in survivors:
        if wanted.items() <= one.items():
            return str(one["why"])
    return None


def show(console: Console, options: argparse.Namespace, every: Sequence[Mutant], judged: Sequence[Judged]) -> int:
    """What came out, and the exit status."""
    survivors = tomllib.loads((options.root / "tests/mutants/survivors.toml").read_text(encoding="utf-8"))["survivor"]
    kinds = Counter(one.mutant.operator for one in judged)
    for name, what in OPERATORS.items():
        caught = sum(one.caught for one in judged if one.mutant.operator == name)
        line = f"{name:<18} {caught:>3} of {kinds[name]:>3} caught   {what}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    unjudged = [one for one in judged if one.row.verdict is Verdict.HARNESS_ERROR]
    unargued = 0
    for one in judged:
        if not one.caught:
            why = arguments(options.release, one.mutant, survivors)
            unargued += why is None
            said = one.row.evidence.message if one in unjudged else why or "nobody has said why"
            console.print(f"{one.row.verdict.words}: {one.mutant.words}: {said}", markup=False, soft_wrap=True)
    caught = sum(one.caught for one in judged)
    console.print(
        f"{options.release}, {options.file}, seed {options.seed}: {caught} of {len(judged)} mutants caught "
        f"({caught / len(judged):.1%}), of {len(every)} that the operators make on the lines that ran",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    return 5 if unjudged else 1 if unargued or caught < LEAST * len(judged) else 0


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """What to do."""
    listed = "\n".join(f"  {name}: {what}" for name, what in OPERATORS.items())
    parser = argparse.ArgumentParser(
        prog="python scripts/mutants.py",
        description=f"{__doc__}\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--release", default="5.24.0", help="whose file is mutated (default %(default)s)")
    parser.add_argument("--file", default="cache_utils.py", help="below the package (default %(default)s)")
    parser.add_argument("--count", type=int, default=40, help="how many mutants (default %(default)s)")
    parser.add_argument("--seed", type=int, default=46439, help="which ones (default %(default)s)")
    parser.add_argument("--list", action="store_true", help="name them, and run none")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Judge mutants, show what came out, and give the exit status."""
    options = parse(words)
    console, errors = Console(), Console(stderr=True)
    console.print(f"seed {options.seed}", highlight=False)
    os.environ.setdefault("HEADWATER_CACHE", str(ROOT / ".cache" / "tests"))
    shed_git_variables()
    try:
        with ProgressReport(errors) as progress, ExitStack() as exits:
            context = Context(options.root, progress.emit, offline=False, exits=exits)
            laboratory = Laboratory(context, options.release, options.file)
            every = laboratory.every()
            picked = chosen(every, options.count, options.seed)
            if not picked:
                raise BadInput(f"the suite runs no line of {options.file}, or --count is 0: there is no mutant")
            if options.list:
                for mutant in picked:
                    console.print(mutant.words, markup=False, highlight=False, soft_wrap=True)
                return 0
            case = laboratory.case()
            judged = []
            for number, mutant in enumerate(picked, 1):
                judged.append(laboratory.judge(mutant, case))
                said = "caught" if judged[-1].caught else judged[-1].row.verdict.words
                errors.print(f"{number} of {len(picked)}: {said}: {mutant.words}", markup=False, soft_wrap=True)
    except HeadwaterError as error:
        errors.print(f"mutants: {error.kind}: {redact(str(error))}", markup=False, highlight=False, soft_wrap=True)
        return error.exit_status
    return show(console, options, every, judged)


if __name__ == "__main__":
    sys.exit(main())
