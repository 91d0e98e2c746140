# SPDX-License-Identifier: Apache-2.0
"""A report in a browser: Debian's chromium, driven by Playwright, and no network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright
from sample_report import sample_report

from headwater.report.html import render


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path. Where it is not installed the tests are skipped, but for CI, which installs it."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None and os.environ.get("CI"):
        pytest.fail("no chromium: .ci/run installs it")
    if found is None:
        pytest.skip("no chromium here; `apt-get install chromium` installs one")
    return found


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser for all tests; root may not use its sandbox."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def report_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of the size of the full atlas, and one that has a case of every kind."""
    folder = tmp_path_factory.mktemp("report")
    files = {"full": folder / "full.html", "small": folder / "small.html"}
    files["full"].write_text(render(sample_report()), encoding="utf-8")
    files["small"].write_text(render(sample_report(cases=8)), encoding="utf-8")
    return files


Open = Callable[..., Page]


@pytest.fixture
def open_report(browser: Browser, report_files: dict[str, Path]) -> Iterator[Open]:
    """Open the report at an anchor; when the test ends, nothing was said on the console and nothing was asked for but
    the file."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []
    addresses = {kind: path.as_uri() for kind, path in report_files.items()}

    def heard(request: Request) -> None:
        if request.url.partition("#")[0] not in addresses.values():
            faults.append(f"asked for {request.url}")

    def opened(anchor: str = "", *, kind: str = "full", width: int = 1440, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("request", heard)
        page.goto(addresses[kind] + anchor)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []
