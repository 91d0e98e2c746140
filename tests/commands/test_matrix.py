# SPDX-License-Identifier: Apache-2.0
"""`headwater matrix` on a small library of which all is known."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from bench import wait_for
from hunting_ground import RELEASES, UNMASK, Ground, Ran, at_release, git, interrupt
from plain_atlas import PLAIN_ATLAS

WORDS = {"g": "good", "b": "bad", "a": "absent", "o": "other-failure", "m": "other-failure"}
CASES = ("plain", "arrived", "clouded")
# Holds one probe back until the file is gone.
SLOW = """\
# /// case
# id = "slow"
# title = "Takes its time"
# references = []
# severity = "slow"
# [[signature]]
# type = "RuntimeError"
# message = 'never'
# ///
import time
from pathlib import Path


def run(device):
    import transformers

    file = Path({file!r})
    while transformers.__version__ == "5.4.0" and file.exists():
        file.with_suffix(".begun").touch()
        time.sleep(0.01)
"""


def run(ground: Ground, *words: str | Path) -> Ran:
    """A matrix as JSON, of three cases unless others are named."""
    cases = () if "--cases" in words else ("--cases", ",".join(CASES))
    done = ground.run("matrix", *cases, *words, "--json")
    assert "Traceback" not in done.err, done.err
    return done


def places(done: Ran) -> dict[tuple[str, str, str | None], str]:
    return {(one["case"], one["revision"], one["series"]): one["verdict"] for one in done.json["probes"]}


def known(cases: tuple[str, ...] = CASES) -> dict[tuple[str, str, str | None], str]:
    return {(case, version, None): WORDS[at_release(case, version)] for case in cases for version in RELEASES}


def test_every_cell_once_and_nothing_twice(ground: Ground) -> None:
    first = run(ground)
    assert first.status == 1
    assert places(first) == known()
    count = len(CASES) * len(RELEASES)
    assert (first.json["cells"], first.json["probes_run"]) == (count, count)
    assert first.json["cells_per_second"] > 0
    # Two environments, and a server for each.
    assert first.json["counts"]["servers"] == 2
    again = run(ground, "--jobs", "3")
    assert places(again) == known()
    assert again.json["probes_run"] == 0
    assert "servers" not in again.json["counts"]
    fresh = run(ground, "--fresh", "--jobs", "2")
    assert places(fresh) == known()
    assert fresh.json["probes_run"] == count


def test_the_atlas_says_what_is_in_order(ground: Ground) -> None:
    (ground.root / "tests" / "repro" / "atlas.toml").write_text(PLAIN_ATLAS, encoding="utf-8")
    words = ("--cases", "plain", "--releases", "5.2.0..5.4.0")
    assert run(ground, *words).status == 0
    (ground.root / "tests" / "repro" / "atlas.toml").write_text(PLAIN_ATLAS.replace("bad", "good"), encoding="utf-8")
    done = ground.run("matrix", *words)
    assert done.status == 1
    assert "not as expected: plain on cpu, 5.4.0: bad instead of good; RuntimeError: the cache broke at 8" in done.out


def test_before_and_after_a_series(ground: Ground) -> None:
    ground.series("unmask", "5.0.0", UNMASK)
    words = ("--cases", "masked,plain", "--releases", "5.0.0..5.2.0", "--series", "unmask")
    done = run(ground, *words)
    seen = places(done)
    # masked.py fails otherwise until the series mends it; 5.2.0 has not what the patch takes away.
    assert seen["masked", "5.0.0", None] == "other-failure"
    assert seen["masked", "5.0.0", "unmask"] == "good"
    assert seen["plain", "5.1.0", "unmask"] == "good"
    failed = [one for one in done.json["probes"] if (one["revision"], one["series"]) == ("5.2.0", "unmask")]
    assert {one["verdict"] for one in failed} == {"untestable"}
    assert all("0001-mend.patch" in one["evidence"]["message"] for one in failed)
    shown = ground.run("matrix", *words)
    assert "other failure > good!" in shown.out


def test_a_series_that_is_not_needed_is_not_applied(ground: Ground) -> None:
    patch = UNMASK.replace("\n---\n", "\nHeadwater-Case: masked\n\n---\n")
    ground.series("unmask", "5.0.0", patch)
    done = run(ground, "--cases", "masked", "--releases", "5.1.0..5.2.0", "--series", "unmask")
    by_name = {one["revision"]: one for one in done.json["revisions"]}
    assert by_name["5.2.0"]["skipped"] == [{"patch": "0001-mend.patch", "state": "fixed-upstream"}]
    assert not by_name["5.2.0"]["patched"] and by_name["5.1.0"]["patched"]
    assert ("masked", "5.2.0", "unmask") not in places(done)
    shown = ground.run("matrix", "--cases", "masked", "--releases", "5.1.0..5.2.0", "--series", "unmask")
    assert "unmask is not needed, fixed upstream: 5.2.0" in shown.out


@pytest.fixture
def slow(ground: Ground) -> Path:
    """A case that waits on 5.4.0 as long as this file is there."""
    file = ground.here / "wait"
    file.touch()
    (ground.root / "tests" / "repro" / "slow.py").write_text(SLOW.format(file=str(file)), encoding="utf-8")
    return file


@pytest.mark.slow
def test_interrupted_it_keeps_what_is_done_and_goes_on(ground: Ground, slow: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    command = ("matrix", "--cases", "slow,plain", "--fresh", "--junit", str(report), "--json")
    process = ground.start(*command)
    # Four releases of the first environment, and what stands before 5.4.0 in the second: nothing.
    before = [version for version in RELEASES if version < "5.4.0"]
    wait_for(slow.with_suffix(".begun").exists)
    done = interrupt(process)
    assert done.status == 130
    assert done.json["interrupted"]
    assert {one["revision"] for one in done.json["probes"]} == set(before)
    assert {one["revision"] for one in done.json["not_run"]} == set(RELEASES) - set(before)
    assert len(done.json["probes"]) + len(done.json["not_run"]) == done.json["cells"]
    skipped = [test for test in ElementTree.parse(report).iter("testcase") if test.find("skipped") is not None]
    assert len(skipped) == len(done.json["not_run"])
    said = done.err.partition("goes on: ")[2].strip()
    slow.unlink()
    assert shlex.split(said) == ["headwater", "matrix", "--cases", "slow,plain"]
    rest = ground.run(*shlex.split(said)[1:], "--json")
    assert rest.json["probes_run"] == len(done.json["not_run"])
    assert not rest.json["not_run"]


SUITE = """
import pytest
from tests.hub import ask

def test_passes():
    pass

def test_skips():
    pytest.skip("no such device")

def test_asks_the_hub():
    try:
        ask()
    except Exception as error:
        raise OSError("we could not connect") from error

@pytest.mark.parametrize("n", [1, 2])
def test_the_cache(n):
    from transformers.masked import use
    use()
"""
HUB = """
class LocalEntryNotFoundError(Exception):
    pass

def ask():
    raise LocalEntryNotFoundError("offline")
"""
OWN = "tests/utils/test_cache_utils.py"
CONFTEST = """
class Plugin:
    def pytest_configure_node(self, node):
        raise AssertionError("there is one process")

def pytest_configure(config):
    config.pluginmanager.register(Plugin())
"""


@pytest.fixture
def tested(ground: Ground) -> str:
    """A commit of the upstream repository that brings tests of the cache; its id."""
    files = {OWN: SUITE, "tests/hub.py": HUB, "conftest.py": CONFTEST, "tests/utils/__init__.py": ""}
    for name, text in files.items():
        path = ground.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(ground.repo, "add", "--all")
    git(ground.repo, "commit", "--quiet", "-m", "Tests of the cache")
    return git(ground.repo, "rev-parse", "HEAD")


def results_of(probe: Any) -> dict[str, str]:
    return {one["name"].rpartition("::")[2]: one["result"] for one in probe["tests"]}


def test_the_librarys_own_tests_at_a_commit(ground: Ground, tested: str) -> None:
    words = ("--cases", "none", "--tests", "upstream", "--repo", ground.repo, "--commits", "main")
    done = run(ground, *words)
    by_file = {one["case"]: one for one in done.json["probes"]}
    assert [one["tests_at"] for one in done.json["revisions"]] == [tested]
    assert results_of(by_file[OWN]) == {
        "test_passes": "passed", "test_skips": "skipped", "test_asks_the_hub": "needs-hub",
        "test_the_cache[1]": "failed", "test_the_cache[2]": "failed",
    }  # fmt: skip
    # Failures that are there are told and counted, not judged; what the commit has not is absent.
    assert (by_file[OWN]["verdict"], by_file[OWN]["as_expected"]) == ("bad", True)
    assert by_file["tests/utils/test_masking_utils.py"]["verdict"] == "absent"
    assert done.status == 0
    shown = ground.run("matrix", *words)
    assert f"{OWN} on cpu, {tested[:12]}: 1 passed, 2 failed, 1 skipped, 1 need the hub" in shown.out
    assert f"failed: {OWN}::test_the_cache (2)" in shown.out


@pytest.mark.slow
def test_the_librarys_own_tests_after_a_series(ground: Ground, tested: str) -> None:
    ground.series("unmask", "5.0.0", UNMASK)
    # At the newest commit masked.py has a bug beneath, at the first none: there the tests pass once it is mended.
    git(ground.repo, "checkout", "--quiet", "-b", "old", "v5.0.0")
    git(ground.repo, "checkout", "--quiet", "main", "--", "tests", "conftest.py")
    git(ground.repo, "commit", "--quiet", "-m", "Tests of the cache, then")
    words = ("--cases", "none", "--tests", "upstream", "--repo", ground.repo, "--series", "unmask")
    done = run(ground, *words, "--commits", "old")
    assert done.status == 0, done.err
    [line] = [one for one in done.json["comparisons"] if one["title"] == OWN]
    assert line["changes"]["newly_passing"] == [f"{OWN}::test_the_cache[{n}]" for n in (1, 2)]
    assert (line["changes"]["new_failures"], line["changes"]["lost"]) == ([], [])
    shown = ground.run("matrix", *words, "--commits", "old")
    assert f"after the series: newly passing: {OWN}::test_the_cache (2)" in shown.out


@pytest.mark.slow
def test_a_test_that_the_series_breaks_is_a_failure(ground: Ground, tested: str, tmp_path: Path) -> None:
    ground.series("unmask", "5.0.0", UNMASK)
    git(ground.repo, "checkout", "--quiet", "-b", "old", "v5.0.0")
    path = ground.repo / OWN
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "import inspect\nfrom transformers import masked\n\ndef test_held():\n"
        "    assert 'another' in inspect.getsource(masked)\n",
        encoding="utf-8",
    )
    git(ground.repo, "add", "--all")
    git(ground.repo, "commit", "--quiet", "-m", "Tests of the cache, then")
    words = ("matrix", "--cases", "none", "--tests", "upstream", "--repo", ground.repo, "--series", "unmask")
    report = tmp_path / "report.xml"
    done = ground.run(*words, "--commits", "old", "--junit", report)
    assert done.status == 1
    assert f"after the series: fails anew: {OWN}::test_held: AssertionError: " in done.out
    [failed] = [test for test in ElementTree.parse(report).iter("testcase") if test.find("failure") is not None]
    assert failed.get("name") == f"{OWN} [unmask]"


def test_without_a_repository_what_sdists_do_not_hold_is_not_available(ground: Ground) -> None:
    done = run(ground, "--cases", "none", "--tests", "upstream", "--releases", "5.0.0")
    assert done.status == 1
    assert {one["verdict"] for one in done.json["probes"]} == {"unavailable"}
    assert all("not available" in one["evidence"]["message"] for one in done.json["probes"])


@pytest.mark.slow
def test_the_conformance_suite_is_a_row(ground: Ground) -> None:
    folder = ground.root / "tests" / "conformance"
    folder.mkdir()
    (folder / "test_small.py").write_text(
        "from transformers.plain import use\n\ndef test_use():\n    assert use() == 8\n", encoding="utf-8"
    )
    words = ("--cases", "none", "--tests", "conformance", "--releases", "5.2.0..5.5.0")
    done = run(ground, *words)
    assert done.status == 0
    assert {one["revision"]: one["verdict"] for one in done.json["probes"]} == {
        version: {"g": "good", "b": "bad"}[at_release("plain", version)]
        for version in RELEASES
        if "5.2.0" <= version <= "5.5.0"
    }
    shown = ground.run("matrix", *words)
    assert "conformance on cpu, 5.4.0..5.5.0: 1 failed" in shown.out
    assert "failed: test_small.py::test_use" in shown.out


FAILURES = """\
schema = 1
[[failure]]
case = "plain"
tests = ["test_small.py::test_use"]
reason = '^RuntimeError: the cache broke'
"""


@pytest.mark.slow
def test_a_failure_of_the_conformance_suite_belongs_to_a_case_or_is_not_in_order(ground: Ground) -> None:
    folder = ground.root / "tests" / "conformance"
    folder.mkdir()
    (folder / "test_small.py").write_text(
        "from transformers.plain import use\n\ndef test_use():\n    assert use() == 8\n", encoding="utf-8"
    )
    (folder / "failures.toml").write_text(FAILURES, encoding="utf-8")
    words = ("--cases", "none", "--tests", "conformance", "--releases", "5.3.0,5.4.0")
    done = run(ground, *words)
    assert done.status == 0
    [told] = done.json["failures"]
    assert (told["revision"], told["by_case"], told["unnamed"]) == ("5.4.0", {"plain": ["test_small.py::test_use"]}, [])
    assert "plain: test_small.py::test_use" in ground.run("matrix", *words).out
    # What the atlas has as good there, it cannot be.
    atlas = ground.root / "tests" / "repro" / "atlas.toml"
    atlas.write_text(PLAIN_ATLAS.replace("bad", "good"), encoding="utf-8")
    done = run(ground, *words)
    assert (done.status, done.json["probes_run"]) == (1, 0)
    assert done.json["failures"][0]["unnamed"] == ["test_small.py::test_use"]
    shown = ground.run("matrix", *words)
    assert "unnamed, of no case in the atlas: test_small.py::test_use: RuntimeError: the cache broke" in shown.out
    assert "not as expected: conformance on cpu, 5.4.0: bad instead of good" in shown.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cases", "none"), "nothing to run"),
        (("--cases", "nowhere"), "there is no case 'nowhere'"),
        (("--tests", "all"), "--tests all: there are conformance and upstream"),
        (("--devices", "gpu"), "'gpu' is no device"),
        (("--releases", "9.9"), "there is no pinned release 9.9"),
        (("--series", "nothing"), "there is no series 'nothing'"),
        (("--commits", "main"), "--repo"),
        (("--markdown", "nowhere/file.md"), "the folder nowhere is not there"),
    ],
)
def test_words_that_cannot_be_taken(ground: Ground, words: tuple[str, ...], said: str) -> None:
    done = ground.run("matrix", *words)
    assert done.status == 2
    assert said in done.err


def test_files(ground: Ground, tmp_path: Path) -> None:
    page, report, whole = tmp_path / "page.md", tmp_path / "report.xml", tmp_path / "whole.json"
    words = ("--releases", "5.3.0,5.4.0", "--markdown", page, "--junit", report, "--output", whole)
    done = run(ground, *words)
    assert whole.read_text(encoding="utf-8") == done.out
    assert "| plain | cpu | good | bad! |" in page.read_text(encoding="utf-8")
    suites = list(ElementTree.parse(report).getroot())
    assert [suite.get("name") for suite in suites] == ["5.3.0 cpu", "5.4.0 cpu"]
    assert [suite.get("tests") for suite in suites] == ["3", "3"]


@pytest.mark.parametrize("named", [False, True])
def test_what_does_not_tell_on_a_device_is_as_it_should_be_unless_named(ground: Ground, named: bool) -> None:
    path = ground.root / "tests" / "repro" / "plain.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("# references = []\n", '# references = []\n# devices = ["cpu"]\n'), encoding="utf-8")
    words = ("--cases", "plain") if named else ()
    done = ground.run("matrix", "--releases", "5.0.0", "--devices", "meta", *words, "--json")
    [row] = [one for one in done.json["probes"] if one["case"] == "plain"]
    assert (row["verdict"], row["as_expected"]) == ("unavailable", not named)
