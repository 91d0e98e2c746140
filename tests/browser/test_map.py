# SPDX-License-Identifier: Apache-2.0
"""The map in a browser: hover, keys, filters, links, themes, narrow windows, paper."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

Open = Callable[..., Page]
CASES, RELEASES = 42, 55
DASH = "\N{EN DASH}"


def cell(page: Page, row: int, release: str) -> Locator:
    """A cell of the map, by the number of its row and its release."""
    names = page.locator("#grid .names th").all_text_contents()
    return page.locator("#grid tbody tr").nth(row).locator("td").nth(names.index(release))


def rows(page: Page) -> Locator:
    """The rows that are to be seen."""
    return page.locator("#grid tbody tr:visible")


def columns(page: Page) -> Locator:
    """The columns that are to be seen."""
    return page.locator("#grid .names th:visible")


def test_every_case_and_release_has_a_cell_with_a_letter_and_a_name(open_report: Open) -> None:
    page = open_report()
    expect(rows(page)).to_have_count(CASES)
    expect(columns(page)).to_have_count(RELEASES)
    expect(page.locator("#grid tbody td")).to_have_count(CASES * RELEASES)
    assert set(page.locator("#grid tbody td").all_text_contents()) == {"G", "B", "F", DASH, "U", "~"}
    expect(cell(page, 0, "5.10.1")).to_have_attribute("aria-label", "static-hybrid-0 on 5.10.1: bad")


def test_hovering_shows_verdict_evidence_and_both_neighbours(open_report: Open) -> None:
    page = open_report()
    expect(page.locator("#card")).to_be_hidden()
    cell(page, 0, "5.8.0").hover()
    card = page.locator("#card")
    expect(card.locator("h2")).to_have_text("static-hybrid-0 on 5.8.0 B bad")
    expect(card).to_contain_text("RuntimeError: The size of tensor a (2) must match")
    expect(card).to_contain_text("transformers/cache_utils.py:724 in update")
    expect(card).to_contain_text("cpu, cuda, meta: B bad")
    expect(card).to_contain_text("cuda: recorded 2026-11-14")
    expect(card).to_contain_text("environment 000000000000, not compared with today's")
    told = card.locator("dt").all_text_contents(), card.locator("dd").all_text_contents()
    assert told == (["before", "after", "after, main line"], ["5.7.0 B bad", "5.8.1 B bad", "5.9.0 B bad"])
    cell(page, 0, "5.8.1").hover()
    told = card.locator("dt").all_text_contents(), card.locator("dd").all_text_contents()
    assert told == (["before", "main line, next"], ["5.8.0 B bad", "5.9.0 B bad"])
    page.locator("h1").hover()
    expect(card).to_be_hidden()


def test_the_card_leaves_the_row_and_the_column_free(open_report: Open) -> None:
    page = open_report()
    for row, release in ((0, "4.57.0"), (0, "5.24.0"), (20, "4.57.0"), (20, "5.24.0")):
        cell(page, row, release).hover()
        here, card = cell(page, row, release).bounding_box(), page.locator("#card").bounding_box()
        assert here is not None and card is not None
        assert card["x"] >= here["x"] + here["width"] or card["x"] + card["width"] <= here["x"]
        assert card["y"] >= here["y"] + here["height"] or card["y"] + card["height"] <= here["y"]
        assert card["x"] >= 0 and card["y"] >= 0


def test_focus_shows_the_same_and_escape_takes_it_away(open_report: Open) -> None:
    page = open_report()
    cell(page, 0, "5.5.1").focus()
    expect(page.locator("#card h2")).to_have_text("static-hybrid-0 on 5.5.1 B bad")
    expect(cell(page, 0, "5.5.1")).to_have_attribute("aria-describedby", "card")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#card h2")).to_have_text(f"static-hybrid-0 on 5.5.0 {DASH} absent")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#card h2")).to_have_text("dynamic-prefill-1 on 5.5.0 B bad")
    page.keyboard.press("Escape")
    expect(page.locator("#card")).to_be_hidden()
    expect(page.locator("[aria-describedby=card]")).to_have_count(0)


def test_the_map_is_one_stop_for_the_tab_key_and_enter_opens_what_is_there(open_report: Open) -> None:
    page = open_report()
    page.locator("#filters button").focus()
    page.keyboard.press("Tab")
    expect(cell(page, 0, "4.56.0")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#grid .names a").first).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#grid tbody th a").first).to_be_focused()
    page.keyboard.press("End")
    expect(cell(page, 0, "5.24.0")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#list a").first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("article:visible h2")).to_have_text("static-hybrid-0")
    expect(page.locator("article:visible h2")).to_be_focused()


def test_filters_by_text_verdict_range_and_device_narrow_and_can_be_linked_to(open_report: Open) -> None:
    page = open_report()
    page.locator("#f-text").fill("HYBRID mamba")
    expect(rows(page).locator("th")).to_have_text([f"mamba-hybrid-{number}" for number in (4, 14, 24, 34)])
    page.locator("#f-text").fill("")
    page.get_by_role("checkbox", name="flaky").check()
    expect(rows(page)).to_have_count(6)
    page.locator("#f-from").select_option("5.5.0")
    page.locator("#f-to").select_option("5.12.1")
    expect(columns(page)).to_have_count(19)
    expect(page.locator("#shown")).to_have_text("6 of 42 cases, 19 of 55 releases")
    page.locator("#f-device").select_option("meta")
    assert page.url.endswith("#verdict=flaky&from=5.5.0&to=5.12.1&device=meta")
    again = open_report(f"#{page.url.partition('#')[2]}")
    expect(rows(again)).to_have_count(rows(page).count())
    expect(columns(again)).to_have_count(19)
    again.get_by_role("button", name="Show all").click()
    expect(rows(again)).to_have_count(CASES)
    expect(columns(again)).to_have_count(RELEASES)


def test_where_nothing_is_left_the_map_says_so(open_report: Open) -> None:
    page = open_report("#text=there+is+no+such+case")
    expect(page.get_by_text("No case is like that.")).to_be_visible()
    expect(page.locator("#scroll")).to_be_hidden()
    page.locator("#again").click()
    expect(rows(page)).to_have_count(CASES)


def test_a_cell_where_the_store_says_otherwise_is_marked_and_says_so(open_report: Open) -> None:
    page = open_report()
    marked = page.locator("#grid td.disputed")
    assert marked.count() == 3
    marked.first.hover()
    expect(page.locator("#card")).to_contain_text("≠ the atlas")
    expect(page.locator(".lead").first).to_contain_text("On 3 cells the store says otherwise than the atlas")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes(open_report: Open, scheme: str) -> None:
    page = open_report(color_scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}[scheme]


def test_headers_stay_where_the_map_is_scrolled(open_report: Open) -> None:
    page = open_report(width=900)
    page.locator("#scroll").evaluate("box => box.scrollTo(600, 300)")
    inside = page.locator("#scroll").bounding_box()
    name, release = page.locator("#grid tbody th").nth(20).bounding_box(), columns(page).nth(40).bounding_box()
    assert inside is not None and name is not None and release is not None
    assert abs(name["x"] - inside["x"]) < 3
    assert abs(release["y"] - inside["y"]) < 30


def test_a_narrow_window_has_no_scroll_bar_but_the_maps_and_the_card_at_its_foot(open_report: Open) -> None:
    page = open_report(width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cell(page, 0, "5.10.1").hover()
    box = page.locator("#card").bounding_box()
    assert box is not None and box["x"] == 0 and box["width"] == 390 and round(box["y"] + box["height"]) == 900


def test_a_first_tap_shows_the_card_and_a_second_one_opens_the_case(open_report: Open) -> None:
    page = open_report(width=390, has_touch=True, is_mobile=True)
    cell(page, 1, "4.57.0").tap()
    expect(page.locator("#card h2")).to_have_text("dynamic-prefill-1 on 4.57.0 B bad")
    assert "case=" not in page.url
    cell(page, 1, "4.57.0").tap()
    expect(page.locator("article:visible h2")).to_have_text("dynamic-prefill-1")


def test_without_the_script_everything_can_be_read(open_report: Open) -> None:
    page = open_report(java_script_enabled=False)
    expect(page.locator("#grid tbody td:visible")).to_have_count(CASES * RELEASES)
    expect(page.locator("article:visible")).to_have_count(CASES + RELEASES)


def test_paper_has_the_map_and_every_case_and_none_of_the_controls(open_report: Open) -> None:
    page = open_report()
    page.emulate_media(media="print")
    expect(page.locator("#cases article:visible")).to_have_count(CASES)
    expect(page.locator("#releases article:visible")).to_have_count(0)
    expect(page.locator("form:visible, nav:visible")).to_have_count(0)
    # A4 across, less the margins, at 96 dots an inch.
    page.set_viewport_size({"width": 1054, "height": 725})
    assert page.evaluate("document.documentElement.scrollWidth") <= 1054
