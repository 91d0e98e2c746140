# SPDX-License-Identifier: Apache-2.0
"""The description of a pull request and its check-list: headings and questions of upstream's template, and places that
are marked as unwritten. Headwater writes no word of a description: upstream closes those that a machine wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Headings of upstream's template, for where no checkout says how they are now; and what goes below each.
HEADINGS = ("What does this PR do?", "Code Agent Policy", "Before submitting", "Who can review?")
GO_AHEAD = "Go-ahead:"
EVIDENCE_LINKS = "Evidence: [EVIDENCE.md](EVIDENCE.md), [evidence.json](evidence.json)"

_MARK = "headwater: unwritten"
_MARKED = re.compile(r"<!--\s*headwater: unwritten\b.*?-->", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|^```.*?(?:^```|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} +(?P<title>.+?)\s*#*$")
_URL = re.compile(r"https?://[^/\s<>]+\.[^/\s<>]+/[^\s<>]*(issues|pull|discussions?)/\d+[^\s<>]*")
_ISSUE = re.compile(r"(?m)^Fixes +# *\(issue\) *$")
_FIXES = re.compile(r"Fixes\b")
_HINTS = {
    HEADINGS[0]: "say in your own words what this changes and why, and delete this line",
    HEADINGS[1]: "say here which tools wrote what, as the policy asks, and delete this line",
    HEADINGS[2]: "tick what holds, and delete this line",
    HEADINGS[3]: "name who can review, and delete this line",
}
_GO_AHEAD_HINT = "put here the address of the comment or issue in which a maintainer asks for this"


@dataclass(frozen=True)
class Section:
    """A part of a text below a heading; `title` is None for what stands before the first. `line` counts from 1."""

    title: str | None
    line: int
    text: str


def sections(text: str) -> list[Section]:
    """The parts of a Markdown text, by its headings, none of which are looked for in comments and code blocks."""
    found: list[tuple[str | None, int, list[str]]] = [(None, 1, [])]
    hidden = _hidden_lines(text)
    for number, line in enumerate(text.splitlines(), 1):
        heading = _HEADING.match(line) if number not in hidden else None
        if heading:
            found.append((heading["title"], number, []))
        else:
            found[-1][2].append(line)
    return [Section(title, line, "\n".join(lines).strip("\n")) for title, line, lines in found]


def _hidden_lines(text: str) -> set[int]:
    """The numbers of lines that begin within a comment or a code block."""
    spans = [match.span() for match in _HIDDEN.finditer(text)]
    hidden, at = set(), 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if any(start < at < end for start, end in spans):
            hidden.add(number)
        at += len(line)
    return hidden


def _mark(hint: str) -> str:
    return f"<!-- {_MARK}: {hint} -->"


def make_body(template: str | None, issues: Sequence[str]) -> str:
    """The body of a pull request: the headings and questions of `template` (None: those that upstream has), with the
    issues and the evidence linked and everything else marked as unwritten."""
    fixes = "\n".join(f"Fixes {issue}" for issue in issues) or f"Fixes {_mark('put here the address of the issue')}"
    given = {one.title: one.text for one in sections(template or "") if one.title}
    titles = headings_of(template)
    parts = []
    for number, title in enumerate(titles):
        own = _ISSUE.sub("", _COMMENT.sub("", given.get(title, ""))).strip()
        below = [_mark(_HINTS.get(title, "say here what this asks for, and delete this line"))]
        if number == 0:
            below += [fixes, f"{GO_AHEAD} {_mark(_GO_AHEAD_HINT)}", EVIDENCE_LINKS]
        parts.append("\n\n".join([f"{'#' if number == 0 else '##'} {title}", *filter(None, [own, *below])]))
    return "\n\n".join(parts) + "\n"


def headings_of(template: str | None) -> tuple[str, ...]:
    """The headings of a template, or those that upstream has."""
    found = tuple(one.title for one in sections(template or "") if one.title)
    return found or HEADINGS


def faults_of_body(body: str, headings: Sequence[str]) -> list[str]:
    """What a person still has to write of a body that was made with these headings, one sentence each; nothing where it
    is written."""
    # Of the go-ahead `go_ahead` tells.
    parts = sections(re.sub(rf"(?m)^{GO_AHEAD}.*$", "", body))
    faults = [
        f"BODY.md is unwritten below {one.title or 'its beginning'!r}" for one in parts if _MARKED.search(one.text)
    ]
    missing = [title for title in headings if title not in {one.title for one in parts}]
    faults += [f"BODY.md has no heading {title!r}, which upstream's template has" for title in missing]
    first = next((one for one in parts if one.title in headings[:1]), None)
    if first is not None and not _MARKED.search(first.text) and not _own_words(first.text):
        faults.append(f"BODY.md says nothing below {first.title!r}: what the change does is for you to say")
    if _ISSUE.search(body):
        faults.append("BODY.md still says `Fixes # (issue)`: name the issue")
    return faults


def _own_words(text: str) -> bool:
    """Whether a text has a line that neither a template nor Headwater put there."""
    lines = [line.strip() for line in _COMMENT.sub("", text).splitlines()]
    return any(
        re.search(r"\w", line) and not _FIXES.match(line) and not line.startswith((GO_AHEAD, "Evidence:"))
        for line in lines
    )


def go_ahead(body: str) -> str | None:
    """The address of the maintainers' go-ahead that a body names; None where it names none."""
    for line in _COMMENT.sub("", body).splitlines():
        if line.strip().startswith(GO_AHEAD):
            found = _URL.search(line)
            return found[0] if found else None
    return None


@dataclass(frozen=True)
class Question:
    """One thing to be ticked: where it was read, below which heading, and what it says."""

    origin: str
    heading: str | None
    text: str


_BOX = re.compile(r"^\s*(?:[-*+]\s+\[[ xX]\]|[☐☑])\s*(?P<text>.+)$")
_BULLET = re.compile(r"^\s{0,3}[-*+]\s+(?P<text>\S.*)$")
_RULES = re.compile(r"pull request|before submitting|checklist|check-list|agentic|code agent", re.IGNORECASE)


def questions(text: str, origin: str) -> list[Question]:
    """What a contributing guide or a template asks for: every box that it has, and the bullets below headings that
    speak of pull requests or agents."""
    found = []
    for one in sections(_COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)):
        bullets = bool(one.title and _RULES.search(one.title))
        lines = one.text.splitlines()
        for number, line in enumerate(lines):
            match = _BOX.match(line) or (_BULLET.match(line) if bullets else None)
            if match:
                words = [match["text"], *_continued(lines[number + 1 :])]
                found.append(Question(origin, one.title, " ".join(" ".join(words).replace("<br>", " ").split())))
    return found


def _continued(lines: Sequence[str]) -> list[str]:
    """The lines that go on with what a list's entry says: those that are set in."""
    words = []
    for line in lines:
        if not line.startswith("  ") or _BOX.match(line) or _BULLET.match(line):
            break
        words.append(line.strip())
    return words
