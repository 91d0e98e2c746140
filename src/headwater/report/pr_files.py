# SPDX-License-Identifier: Apache-2.0
"""The Markdown files of a bundle: the evidence as people read it, and the check-list. They follow from what they show:
the same input gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from headwater.core.pr_body import HEADINGS, Question
from headwater.core.pr_evidence import CASES, TESTS, LibraryLine, Line, PatchEvidence, PrEvidence, Sight
from headwater.core.results import torch_words
from headwater.core.verdicts import Verdict

# What upstream is known to ask for, where no checkout says how it is now.
_KNOWN_RULES = (
    *(f"The description has the heading `{heading}`" for heading in HEADINGS),
    "No description is written by a machine: upstream closes such pull requests",
    "A maintainer has agreed to the change in the issue",
    "A regression test fails before the fix and passes after it",
    "Lines have at most 119 characters, and ruff does not complain",
    "Tests of caches are in unittest style, with `torch_device`",
)


def evidence_text(evidence: PrEvidence) -> str:
    """EVIDENCE.md."""
    target = evidence.target
    what = f"{evidence.package} {target.revision}" if target.kind == "release" else f"commit {target.revision}"
    parts = [
        f"# Evidence: {evidence.series} on {what}",
        _target_text(evidence),
        *(_patch_text(one, evidence) for one in evidence.patches),
        _library_text(evidence),
        _left_out_text(evidence),
        _replay_text(evidence),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _target_text(evidence: PrEvidence) -> str:
    target = evidence.target
    lines = [f"The library's tree there is `{target.tree}`."]
    lines += [
        f"Probed on {one.revision}: {torch_words(one.torch)}, Python {one.python}, {one.platform}, environment "
        f"`{one.name}` (`{one.key[:12]}`)."
        for one in evidence.environments
    ]
    if evidence.repeat > 1:
        lines.append(f"Each probe was made {evidence.repeat} times; where they disagree the verdict is `flaky`.")
    lines.append("`before` is with the patches below a patch only, `after` with it, `with all` with the whole series.")
    return "\n".join(lines)


def _patch_text(patch: PatchEvidence, evidence: PrEvidence) -> str:
    name = patch.file.partition("-")[0]
    rows = [
        [_what(line, patch), line.revision, line.device, *(_cell(one, line.what) for one in _sights(line))]
        for line in patch.lines
    ]
    parts = [
        f"## {name}: {_plain(patch.subject)}",
        _table(["what", "revision", "device", "before", "after", "with all"], rows),
        _red_tests(patch, evidence.target.revision),
        f"Repeat it: `headwater pr verify . --patch {name}{_repo(evidence)}`",
        f"Patch `{patch.file}`, sha256 `{patch.sha256}`, patch id `{patch.patch_id}`; the library's tree with it: "
        f"`{patch.trees[evidence.target.revision]}`.",
    ]
    return "\n\n".join(filter(None, parts))


def _sights(line: Line) -> tuple[Sight, Sight, Sight]:
    return line.before, line.after, line.whole


def _what(line: Line, patch: PatchEvidence) -> str:
    return f"case `{line.what}`" if line.what != TESTS else ", ".join(f"`{path}`" for path in patch.tests)


def _cell(sight: Sight, what: str) -> str:
    """A verdict; of tests how many have which result."""
    if what == TESTS and sight.tests and sight.verdict in (Verdict.GOOD, Verdict.BAD):
        colour = "red" if sight.verdict is Verdict.BAD else "green"
        counts = [f"{n} {word}" for word in ("failed", "passed", "skipped") if (n := sight.count(word))]
        return f"{colour}: {', '.join(counts)}"
    return sight.shown


def _red_tests(patch: PatchEvidence, revision: str) -> str:
    """The tests that fail before and pass after, each once, with the first reason."""
    red: dict[str, str] = {}
    for line in patch.lines:
        if line.what == TESTS and line.revision == revision:
            passed = {one.name for one in line.after.tests if one.result == "passed"}
            for one in line.before.tests:
                if one.result == "failed" and one.name in passed:
                    red.setdefault(one.name, one.reason or "")
    lines = [f"- `{name}`: {_plain(reason)}" for name, reason in red.items()]
    return "\n".join(["Tests that fail before and pass after:", "", *lines]) if lines else ""


def _library_text(evidence: PrEvidence) -> str:
    if not evidence.library:
        return "## The library's own tests\n\nNot compared: no repository that holds them was at hand (`--repo`)."
    rows = [
        [f"`{one.file}`", one.device, *_library_cells(one), ", ".join(one.new_failures + one.lost) or "none"]
        for one in evidence.library
    ]
    head = ["file", "device", "before", "with all", "newly passing", "fails anew, or runs no more"]
    return f"## The library's own tests\n\n{_table(head, rows)}"


def _library_cells(line: LibraryLine) -> list[str]:
    sides = (
        (line.before, line.passed_before, line.failed_before),
        (line.after, line.passed_after, line.failed_after),
    )
    told = [f"{verdict.words}: {passed} passed, {failed} failed" for verdict, passed, failed in sides]
    return [*told, str(len(line.newly_passing))]


def _left_out_text(evidence: PrEvidence) -> str:
    lines = []
    for one in evidence.left_out:
        seen = [f"case `{case}` is {verdict.words} there on {one.device}" for case, verdict in one.verdicts.items()]
        lines.append(f"- {one.file}: {'; '.join([one.state.words, *seen])}")
    return "\n".join(["## Left out of the series", "", *lines]) if lines else ""


def _replay_text(evidence: PrEvidence) -> str:
    target = evidence.target
    name = f"{evidence.package} {target.revision}" if target.kind == "release" else target.revision
    tests = " ".join(path for patch in evidence.patches for path in patch.tests)
    commands = ["git am --keep-cr $BUNDLE/*.patch", *([f"PYTHONPATH=src python -m pytest {tests}"] if tests else [])]
    commands += [f"PYTHONPATH=src python $BUNDLE/{CASES}/{one.file}" for one in evidence.cases.values()]
    lines = [
        "## Repeat it",
        f"With Headwater, all of it: `headwater pr verify .{_repo(evidence)}`",
        f"Without it, in a checkout of {name}, with this folder as `BUNDLE`; a case exits 0 good, 1 bad:",
        "\n".join(["```", *commands, "```"]),
        f"After `git am` the tree is `{target.after_am}` (`git rev-parse HEAD^{{tree}}`)"
        + (", where the checkout holds the library alone, as the index has it." if target.kind == "release" else "."),
    ]
    return "\n\n".join(lines)


def _repo(evidence: PrEvidence) -> str:
    return "" if evidence.target.kind == "release" and not evidence.library else " --repo PATH-OR-URL"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_plain(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _plain(text: str) -> str:
    """One line, with nothing that Markdown takes for HTML."""
    return " ".join(text.split()).replace("<", "&lt;")


def checklist_text(asked: Sequence[Question], origin: str | None) -> str:
    """CHECKLIST.md: what upstream asks for, by where it was read; `origin` is the revision that it was read at, None
    where there was none."""
    if origin is None or not asked:
        said = (
            "Not read from a checkout: these are the rules that Headwater knows of. `--repo` reads upstream's own."
            if origin is None
            else f"The checkout ({origin}) has no list of its own: these are the rules that Headwater knows of."
        )
        return "\n".join(["# Before sending", "", said, "", *(f"- [ ] {rule}" for rule in _KNOWN_RULES), ""])
    parts = ["# Before sending", "", f"Read from upstream's own files at {origin}.", ""]
    for (file, heading), group in groupby(asked, key=lambda one: (one.origin, one.heading)):
        parts += [f"## {file}: {heading or 'its beginning'}", "", *(f"- [ ] {one.text}" for one in group), ""]
    return "\n".join(parts)
