# SPDX-License-Identifier: Apache-2.0
"""Messages for upstream: Headwater's trailers go, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.mail import Patch
from headwater.core.pr_mail import fixed_in, for_upstream, issues, note_on_authors

OURS = ("Headwater-Case: a-case", "Origin: vendor, Headwater", "Forwarded: not-needed",
        "Applied-Upstream: 5.13.0, https://code.invalid.example/1", "Last-Update: 2026-11-30")  # fmt: skip
THEIRS = ("Bug: https://code.invalid.example/issues/1", "Signed-off-by: A <a@invalid.example>", "Fixes: abc")


def patch(body: str) -> Patch:
    return Patch("0001-x.patch", b"", "subject", body, "A <a@invalid.example>", "now", ())


@given(st.permutations([*OURS, *THEIRS]))
def test_ours_go_and_theirs_stay_in_order(lines: list[str]) -> None:
    text = "Why it is so.\n\n" + "\n".join(lines)
    kept = [line for line in lines if line in THEIRS]
    assert for_upstream(patch(text)).body == "Why it is so.\n\n" + "\n".join(kept)


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("", ""),
        ("Headwater-Case: a", ""),
        ("Why.\n\nOrigin: vendor,\n a second line\nBug: x", "Why.\n\nBug: x"),
        ("Origin: this is prose\nof two lines.", "Origin: this is prose\nof two lines."),
        ("One.\n\nHeadwater-Case: a\n\nTwo.", "One.\n\nTwo."),
    ],
)
def test_paragraphs(body: str, left: str) -> None:
    assert for_upstream(patch(body)).body == left


def test_what_trailers_say() -> None:
    one, two = patch("\n".join(OURS)), patch("\n".join(THEIRS))
    assert (fixed_in(one), fixed_in(two)) == ("5.13.0", None)
    assert fixed_in(patch("Applied-Upstream: yes")) is None
    assert issues((one, two, two)) == ["https://code.invalid.example/issues/1"]


def test_authors_that_are_nobody_are_named_once() -> None:
    somebody = replace(patch(""), author="B <b@library.test>")
    nobody = patch("")
    assert note_on_authors([somebody]) is None
    told = note_on_authors([nobody, somebody, nobody]) or ""
    assert told.startswith("the author is A <a@invalid.example>, which is nobody")
