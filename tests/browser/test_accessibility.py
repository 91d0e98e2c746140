# SPDX-License-Identifier: Apache-2.0
"""axe-core finds no serious fault. It comes from npm, of one version and hash, and is kept beside the tests' caches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from npm import unpacked
from playwright.sync_api import Page

Open = Callable[..., Page]
VERSION = "4.14.1"
SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="


@pytest.fixture(scope="session")
def axe(test_cache: Path) -> str:
    """The text of axe-core."""
    return (unpacked(test_cache, "axe-core", VERSION, SHA512) / "axe.min.js").read_text(encoding="utf-8")


def look(page: Page) -> None:
    """Nothing: the page as it was opened."""


def focus(page: Page) -> None:
    """With the card of a cell."""
    page.locator("#grid tbody td").nth(30).focus()


def menus(page: Page) -> None:
    """With every filter set."""
    page.get_by_role("checkbox", name="bad").check()
    page.locator("#f-device").select_option("cuda")


def serious_faults(page: Page, axe: str) -> list[tuple[str, str]]:
    """What axe finds to be serious or worse: the rule, and where."""
    page.evaluate(axe)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    assert len(found["passes"]) > 10
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [(one["id"], node["html"]) for one in serious for node in one["nodes"]]


# Each page, width and theme every day, but not each with each.
EVERYDAY = [
    ("", focus, 390, "light"), ("#case=static-hybrid-0", look, 390, "dark"),
]  # fmt: skip
OTHERS = [
    ("", menus, 1440, "dark"), ("#release=5.10.2", look, 1440, "light"),
    ("", focus, 390, "dark"), ("", focus, 1440, "light"), ("", focus, 1440, "dark"), ("", menus, 1440, "light"),
    ("#case=static-hybrid-0", look, 390, "light"), ("#case=static-hybrid-0", look, 1440, "light"),
    ("#case=static-hybrid-0", look, 1440, "dark"), ("#release=5.10.2", look, 1440, "dark"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("anchor", "act", "width", "scheme"), [*EVERYDAY, *(pytest.param(*one, marks=pytest.mark.slow) for one in OTHERS)]
)
def test_no_serious_fault(
    open_report: Open, axe: str, anchor: str, act: Callable[[Page], None], width: int, scheme: str
) -> None:
    page = open_report(anchor, kind="small", width=width, color_scheme=scheme)
    act(page)
    assert serious_faults(page, axe) == []


@pytest.mark.slow
def test_no_serious_fault_in_the_full_map(open_report: Open, axe: str) -> None:
    assert serious_faults(open_report(), axe) == []
