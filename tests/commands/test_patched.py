# SPDX-License-Identifier: Apache-2.0
"""`headwater test-patched`: bad before and good after, and each patch is needed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from founding import MENDED, ONLY_FOUNDING

pytestmark = pytest.mark.releases
Run = Callable[..., Any]

SERIES = "hybrid-static-cache"


def lines_of(done: Any) -> dict[tuple[str, str], tuple[str, str]]:
    """(title, device) to (before, after) of a run with one set of patches."""
    [run] = done.json["runs"]
    return {
        (line["title"], line["before"]["device"]): (line["before"]["verdict"], line["after"]["verdict"])
        for line in run["lines"]
    }


FOUNDING_LINES = {
    **{(case, device): ("bad", "good") for case in MENDED for device in ("cpu", "meta")},
    **{("batch-size", device): ("good", "good") for device in ("cpu", "meta")},
    **{(f"tests of 000{n}", "cpu"): ("bad", "good") for n in (1, 2, 3, 4)},
}


def test_all_four_are_bad_before_and_good_after(headwater: Run, workspace: Path) -> None:
    # The copy of the workspace has no conformance suite, which takes longer than all the rest.
    done = headwater("test-patched", *ONLY_FOUNDING, "--json", cwd=workspace)
    assert done.status == 0, done.err
    assert lines_of(done) == FOUNDING_LINES


@pytest.mark.slow
def test_the_conformance_suite_has_no_new_failure(headwater: Run) -> None:
    done = headwater("test-patched", *ONLY_FOUNDING, "--json")
    assert done.status == 0, done.err
    # The release has bugs that are no matter of the series.
    assert lines_of(done) == {**FOUNDING_LINES, ("conformance", "cpu"): ("bad", "bad")}
    [changes] = [line["changes"] for line in done.json["runs"][0]["lines"] if "changes" in line]
    assert (changes["new_failures"], changes["lost"]) == ([], [])
    assert "test_early.py::test_the_same_updates_as_on_a_lazy_one[full-linear]" in changes["newly_passing"]


@pytest.mark.parametrize(
    ("number", "case"),
    [pytest.param(n, case, marks=[pytest.mark.slow] if n > 1 else []) for n, case in enumerate(MENDED, 1)],
)
def test_without_a_patch_exactly_its_own_case_is_bad_again(
    headwater: Run, workspace: Path, number: int, case: str
) -> None:
    done = headwater("test-patched", "--device", "cpu", "--drop", str(number), "--json", cwd=workspace)
    assert done.status == 0, done.err
    lines = lines_of(done)
    assert {c: lines[c, "cpu"][1] for c in MENDED} == {c: "bad" if c == case else "good" for c in MENDED}
    assert (f"tests of 000{number}", "cpu") not in lines


def test_a_broken_hunk_fails_and_is_named(headwater: Run, workspace: Path) -> None:
    [path] = (workspace / "patches" / SERIES).glob("0003-*.patch")
    text = path.read_text(encoding="utf-8")
    broken = text.replace("-        values = [layer.max_cache_len", "-        values = [layer.max_cash_len", 1)
    assert broken != text
    path.write_text(broken, encoding="utf-8")
    done = headwater("test-patched", cwd=workspace)
    assert done.status == 1
    assert path.name in done.out
    assert "patch does not apply" in done.out
    assert "src/transformers/cache_utils.py" in done.out


def test_a_hunk_with_other_line_numbers_is_not_applied_elsewhere(headwater: Run, workspace: Path) -> None:
    [path] = (workspace / "patches" / SERIES).glob("0003-*.patch")
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(?m)^@@ -\d+,9 \+\d+,10 @@", "@@ -3,9 +3,10 @@", text, count=1), encoding="utf-8")
    done = headwater("test-patched", "--json", cwd=workspace)
    assert done.status == 1
    assert path.name in done.json["runs"][0]["failure"]
    assert "offset" in done.json["runs"][0]["failure"]


def test_one_release_that_it_does_not_apply_to_leaves_the_others(headwater: Run, workspace: Path) -> None:
    series = workspace / "patches" / SERIES
    shutil.rmtree(series / "plain-integers")
    text = (series / "series").read_text(encoding="utf-8")
    (series / "series").write_text(text.replace("range 5.5.0 plain-integers\n", ""), encoding="utf-8")
    words = ("--releases", "5.5.0,5.10.1", "--device", "meta", "--case", "early-init", "--json")
    done = headwater("test-patched", *words, cwd=workspace)
    assert done.status == 1
    first, second = done.json["runs"]
    assert (first["release"], first["lines"]) == ("5.5.0", [])
    assert "0001-early-initialization" in first["failure"]
    assert (second["release"], second["failure"], len(second["lines"])) == ("5.10.1", None, 1)


@pytest.mark.slow
def test_a_variant_serves_the_release_that_it_is_for(headwater: Run, workspace: Path) -> None:
    words = ("--releases", "5.5.0", "--device", "cpu", "--case", "early-init", "--json")
    done = headwater("test-patched", *words, cwd=workspace)
    assert done.status == 0, done.err
    assert lines_of(done)["early-init", "cpu"] == ("bad", "good")


def test_a_patch_that_mends_nothing_fails(headwater: Run, workspace: Path) -> None:
    """A series in which a patch claims a case that it does not mend is not as expected."""
    [path] = (workspace / "patches" / SERIES).glob("0003-*.patch")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Headwater-Case: max-cache-len", "Headwater-Case: batch-size"), encoding="utf-8")
    done = headwater("test-patched", "--device", "cpu", "--case", "batch-size,max-cache-len", "--json", cwd=workspace)
    assert done.status == 1
    lines = {line["title"]: line for line in done.json["runs"][0]["lines"]}
    assert not lines["batch-size"]["before"]["as_expected"]
    assert lines["batch-size"]["before"]["expected"] == "bad"


@pytest.mark.parametrize(
    ("trailer", "status", "told"),
    [
        ("Headwater-Also: early-init-again", 0, None),
        ("Headwater-Also: static-smaller-batch", 1, "early-init-again"),
    ],
)
def test_what_is_mended_besides_is_shown_and_a_patch_may_say_so(
    headwater: Run, whole_workspace: Path, trailer: str, status: int, told: str | None
) -> None:
    """The first patch mends early-init-again besides, and no patch mends static-smaller-batch."""
    [path] = (whole_workspace / "patches" / SERIES).glob("0001-*.patch")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Headwater-Also: early-init-again", trailer), encoding="utf-8")
    words = ("--device", "cpu", "--case", "early-init-again,static-smaller-batch", "--json")
    done = headwater("test-patched", *words, cwd=whole_workspace)
    assert done.status == status, done.err
    lines = lines_of(done)
    assert lines["early-init-again", "cpu"] == ("bad", "good")
    assert lines["static-smaller-batch", "cpu"] == ("bad", "bad")
    assert (f"{told} is mended besides" in done.err) is (told is not None)


@pytest.mark.slow
def test_a_device_that_is_not_there(headwater: Run) -> None:
    done = headwater("test-patched", "--device", "xpu", "--case", "early-init", "--json")
    assert done.status == 1
    assert lines_of(done)["early-init", "xpu"] == ("unavailable", "unavailable")


@pytest.mark.slow
def test_a_release_that_has_its_own_fix_is_left_as_it_is(headwater: Run) -> None:
    words = ("test-patched", "--releases", "5.13.0", "--device", "meta", "--case", "early-init")
    done = headwater(*words, "--json")
    assert done.status == 0, done.err
    [run] = done.json["runs"]
    assert (run["applied"], run["failure"]) == ([], None)
    assert [one["state"] for one in run["skipped"]] == ["fixed-upstream"] * 4
    assert lines_of(done) == {("early-init", "meta"): ("good", "good")}
    assert headwater(*words).out.count("fixed upstream: 000") == 4
