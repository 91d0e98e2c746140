# SPDX-License-Identifier: Apache-2.0
"""Bodies and check-lists: what is marked as unwritten is seen as unwritten, and what a person wrote is not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.pr_body import GO_AHEAD, HEADINGS, faults_of_body, go_ahead, make_body, questions, sections

TEMPLATE = """\
<!-- Thank you! # Not a heading -->
# What does this PR do?

<!--
Say it.
# Neither
-->

Fixes # (issue)

## Before submitting
- [ ] Did you read
      the rules?
- [x] Did you test?

```
# nor this
```

## Who can review?
Anyone.
"""
TITLES = ["What does this PR do?", "Before submitting", "Who can review?"]
URL = "https://code.invalid.example/somebody/library/issues/12#issuecomment-5"
plain = st.text(st.characters(codec="ascii", categories=("L", "N", "Zs")), min_size=1, max_size=30)


def written(body: str) -> str:
    """A body with every mark replaced by words."""
    return re.sub(r"<!-- headwater: unwritten.*?-->", "Words.", body)


def test_headings_are_not_looked_for_in_comments_and_code() -> None:
    assert [one.title for one in sections(TEMPLATE) if one.title] == TITLES
    assert [one.line for one in sections(TEMPLATE)] == [1, 2, 11, 20]


@pytest.mark.parametrize("template", [None, TEMPLATE])
def test_a_new_body_is_unwritten_below_every_heading(template: str | None) -> None:
    titles = TITLES if template else list(HEADINGS)
    body = make_body(template, [URL])
    assert [one.title for one in sections(body) if one.title] == titles
    assert faults_of_body(body, titles) == [f"BODY.md is unwritten below {title!r}" for title in titles]
    assert go_ahead(body) is None
    assert f"\nFixes {URL}\n" in body
    assert "(issue)" not in body
    assert faults_of_body(written(body), titles) == []


def test_without_an_issue_the_person_names_it() -> None:
    body = make_body(None, [])
    assert re.search(r"(?m)^Fixes <!-- headwater: unwritten", body)


def test_the_templates_own_words_and_boxes_stay() -> None:
    body = make_body(TEMPLATE, [])
    assert "- [ ] Did you read\n      the rules?\n- [x] Did you test?" in body
    assert "Anyone." in body
    assert "Say it." not in body


def test_marks_that_were_deleted_leave_nothing_to_read() -> None:
    body = re.sub(r"(?m)^<!-- headwater: unwritten.*\n", "", make_body(None, [URL]))
    assert faults_of_body(body, HEADINGS)[0] == (
        "BODY.md says nothing below 'What does this PR do?': what the change does is for you to say"
    )


def test_a_heading_that_was_deleted_and_an_issue_that_was_not_named() -> None:
    body = written(make_body(TEMPLATE, [])).replace("## Who can review?", "").replace("Fixes Words.", "Fixes # (issue)")
    assert faults_of_body(body, TITLES) == [
        "BODY.md has no heading 'Who can review?', which upstream's template has",
        "BODY.md still says `Fixes # (issue)`: name the issue",
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (f"{GO_AHEAD} {URL}", URL),
        (f"  {GO_AHEAD} see [there]({URL[:-16]}) ", URL[:-16] + ")"),
        (f"{GO_AHEAD} https://code.invalid.example/somebody/library/pull/3", "https://code.invalid.example/somebody/library/pull/3"),
        (f"{GO_AHEAD} yes", None),
        (f"{GO_AHEAD} https://", None),
        (f"{GO_AHEAD} https://code.invalid.example/", None),
        (f"{GO_AHEAD} https://code.invalid.example/somebody/library/issues/", None),
        (f"{GO_AHEAD} <!-- {URL} -->", None),
        (URL, None),
        ("", None),
    ],
)  # fmt: skip
def test_the_go_ahead(line: str, found: str | None) -> None:
    assert go_ahead(f"# What does this PR do?\n\nWords.\n\n{line}\n") == found


@given(st.lists(plain.filter(lambda text: bool(text.strip())), min_size=4, max_size=4))
def test_whatever_a_person_writes_is_written(words: list[str]) -> None:
    marks = iter(words)
    body = re.sub(r"(?m)^<!-- headwater: unwritten.*-->$", lambda _match: "word " + next(marks), make_body(None, [URL]))
    assert faults_of_body(body, HEADINGS) == []


def test_questions_of_guides_and_templates() -> None:
    guide = "# Guide\n\n- no rule\n\n## Pull requests\n\n* First,\n  and on.\n  - [ ] a box\n\nText.\n\n"
    guide += "## Style\n\n☐ Ticked.<br>\n"
    found = questions(guide, "CONTRIBUTING.md")
    assert [(one.heading, one.text) for one in found] == [
        ("Pull requests", "First, and on."), ("Pull requests", "a box"), ("Style", "Ticked."),
    ]  # fmt: skip
    assert [one.text for one in questions(TEMPLATE, "x")] == ["Did you read the rules?", "Did you test?"]
    assert questions("<!-- - [ ] hidden\n\n- [ ] too -->\n", "x") == []
