# SPDX-License-Identifier: Apache-2.0
"""The pages of cases and releases in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

Open = Callable[..., Page]
CASE = "static-hybrid-0"


def test_a_link_to_a_case_opens_its_page_with_all_that_is_known(open_report: Open) -> None:
    page = open_report(f"#case={CASE}", kind="small")
    article = page.locator("article:visible")
    expect(article).to_have_count(1)
    expect(page.locator("#map")).to_be_hidden()
    expect(page).to_have_title(f"{CASE} · transformers: known bugs by release")
    expect(article.locator(".lead")).to_have_text("The static cache is wrong after hybrid <b>& more</b>")
    expect(article).to_contain_text("introduced in 5.5.1 (the feature arrived there)")
    expect(article).to_contain_text("commit 2db000000000 (pull request 44950)")
    expect(article).to_contain_text("fixed in 5.13.0")
    expect(article).to_contain_text("headwater repro 5.12.0 --case static-hybrid-0")
    expect(article.get_by_role("link", name="huggingface/transformers#40000")).to_be_visible()
    expect(article).to_contain_text("clean on 5.5.0 to 5.12.1")
    article.get_by_role("link", name="dynamic-prefill-1").click()
    expect(page.locator("article:visible h2")).to_have_text("dynamic-prefill-1")
    page.locator("#go-case").select_option("hybrid-prefill-3")
    expect(page.locator("article:visible .facts")).to_contain_text("no release is without it yet")
    expect(page.locator("article:visible .facts")).to_contain_text("applies to>=5.15: on other releases")
    expect(page.locator("article:visible .facts")).to_contain_text("tells oncpu, cuda: on other devices")


def test_the_history_is_a_tree_with_a_sign_a_release(open_report: Open) -> None:
    page = open_report(f"#case={CASE}", kind="small")
    picture = page.locator("article:visible .history svg")
    expect(picture.locator("use[href^='#n-']")).to_have_count(55)
    expect(picture.locator("path.turn")).to_have_count(4)
    main, maintained = (picture.locator("use[href^='#n-']").nth(n) for n in (0, 1))
    assert main.get_attribute("x") == maintained.get_attribute("x")
    assert float(main.get_attribute("y") or 0) < float(maintained.get_attribute("y") or 0)


def test_a_hunt_is_drawn_as_it_narrowed_over_releases_and_commits(open_report: Open) -> None:
    page = open_report(f"#case={CASE}", kind="small")
    releases, commits = (page.locator("article:visible .narrowing").nth(n) for n in (0, 1))
    assert releases.locator("text.step").all_text_contents() == [
        "1. 5.4.0: absent", "2. 5.10.0: bad", "3. 5.7.0: other failure", "4. 5.6.0: bad", "5. 5.5.0: bad",
    ]  # fmt: skip
    ends = [float(line.get_attribute("x2") or 0) for line in releases.locator("line.left").all()]
    assert ends == [628, 628, 628, 217.3, 114.7]
    expect(commits.locator("text.tick")).to_have_text(["commit 1", "commit 300"])


def test_a_reduction_is_drawn_as_it_narrowed(open_report: Open) -> None:
    page = open_report(f"#case={CASE}", kind="small")
    picture = page.locator("article:visible .narrowing svg").nth(2)
    assert [sign.get_attribute("href") for sign in picture.locator("use").all()] == ["#n-g", "#n-b", "#n-g"]
    expect(picture.locator("title").nth(1)).to_have_text("2. core: 3 hunks, bad, stays; 90 left")
    assert " ".join(picture.locator("text.tick").all_text_contents()) == "1 10 100 1000 3480 kept core hunks"
    name = picture.get_attribute("aria-label") or ""
    assert name.startswith("How the reduction narrowed: all: 3480 hunks left after 0 probes, kept: 90 hunks")


def test_each_hunk_of_a_reduction_has_the_probe_that_it_rests_on(open_report: Open) -> None:
    page = open_report(f"#case={CASE}", kind="small")
    first, second = (page.locator("article:visible .hunk").nth(n) for n in (0, 1))
    expect(first.locator(".add")).to_have_text("+three </script><!-- & <b>")
    expect(first.locator(".rests")).to_contain_text("Without it B bad")
    expect(first.locator(".rests")).to_contain_text("RuntimeError: no size")
    expect(second.locator(".del")).to_have_text("-five")
    expect(second.locator(".rests")).to_contain_text("Without it: not probed")
    expect(second.locator(".rests")).to_contain_text("from commit bbbbbbbbbbbb")


def test_a_link_to_a_release_opens_its_audit(open_report: Open) -> None:
    page = open_report("#release=5.10.2", kind="small")
    article = page.locator("article:visible")
    expect(article.locator("h2")).to_have_text("transformers 5.10.2")
    bugs = article.locator("tbody tr")
    assert f"{bugs.count()} known bugs" in article.locator(".lead").inner_text()
    row = bugs.filter(has_text=CASE)
    expect(row).to_contain_text("5.5.1")
    expect(row).to_contain_text("5.12.1")
    expect(row).to_contain_text("0001-mend.patch")
    row.get_by_role("link", name=CASE).click()
    expect(page.locator("article:visible h2")).to_have_text(CASE)
    page.go_back()
    expect(page.locator("article:visible h2")).to_have_text("transformers 5.10.2")


@pytest.mark.parametrize(("menu", "choice", "title"), [
    ("#go-case", "dynamic-prefill-1", "dynamic-prefill-1"), ("#go-release", "5.5.0", "transformers 5.5.0"),
])  # fmt: skip
def test_the_menus_open_pages_and_the_map_comes_back(open_report: Open, menu: str, choice: str, title: str) -> None:
    page = open_report(kind="small")
    page.locator(menu).select_option(choice)
    expect(page.locator("article:visible h2")).to_have_text(title)
    page.get_by_role("link", name="Map").click()
    expect(page.locator("#grid")).to_be_visible()
    expect(page.locator("article:visible")).to_have_count(0)


def test_a_link_to_what_is_not_there_shows_the_map(open_report: Open) -> None:
    page = open_report("#case=no-such-case", kind="small")
    expect(page.locator("#grid")).to_be_visible()


def test_a_page_that_is_printed_has_that_page_alone(open_report: Open) -> None:
    page = open_report("#release=5.10.2", kind="small")
    page.emulate_media(media="print")
    expect(page.locator("article:visible")).to_have_count(1)
    expect(page.locator("#map")).to_be_hidden()
