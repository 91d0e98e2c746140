# SPDX-License-Identifier: Apache-2.0
"""What can be hunted, on real releases: a reporter's raw script, exit statuses, an executable, and tests."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from headwater.commands.context import Context
from headwater.core.events import silent
from headwater.core.learning import learn, rejudged
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Verdict
from headwater.effects.git import GitDir
from headwater.effects.probe import ProbeOptions
from headwater.effects.targets import UpstreamFiles, load_target, upstream_files
from tests.conftest import CACHE

pytestmark = pytest.mark.releases
Show = Callable[..., "list[ProbeResult]"]

MAKE = """\
import torch
from transformers import PreTrainedConfig, StaticCache


def make():
    kinds = ["full_attention", "linear_attention", "full_attention"]
    return StaticCache(config=PreTrainedConfig(num_hidden_layers=3, layer_types=kinds), max_cache_len=16)


def use(cache):
    device = torch.device("cpu")
    cache.early_initialization(batch_size=2, num_heads=2, head_dim=8, dtype=torch.float32, device=device)
    cache.update_conv_state(torch.ones(2, 6, 4), 1)
"""
REPORT = f"{MAKE}\n\nuse(make())\n"
STATUS = """\
import sys
from make import make, use

cache = make()
if not hasattr(cache, "update_conv_state"):
    print("no such method")
    sys.exit(125)
try:
    use(cache)
except RuntimeError as error:
    print("broken:", error)
    sys.exit(1)
"""
CHECK = """\
#!/bin/sh
python make.py && python -c '
from make import make, use
cache = make()
use(cache) if hasattr(cache, "update_conv_state") else None
'
"""
TESTS = """\
import unittest

import pytest
from make import make, use


@pytest.fixture
def cache():
    return make()


def test_early(cache):
    use(cache)


class OldTest(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(len(make().layers), 3)

    @unittest.skip("not today")
    def test_skipped(self):
        use(make())


@pytest.mark.parametrize("times", [0, 1])
def test_often(cache, times):
    for _ in range(times):
        use(cache)
"""
UPSTREAM = """\
import unittest

from parameterized import parameterized

from transformers.testing_utils import require_torch, torch_device

from ..common import make, use


@require_torch
class CacheTest(unittest.TestCase):
    def test_early(self):
        use(make())

    @parameterized.expand([("once", 1), ("never at all", 0)])
    def test_often(self, name, times):
        assert torch_device == "cpu"
        for _ in range(times):
            use(make())
"""
NEW_NAME = """\
from transformers.cache_utils import LinearAttentionLayer


def test_it():
    assert not LinearAttentionLayer
"""
BUG = "The size of tensor a (8) must match the size of tensor b (4) at non-singleton dimension 3"
WITHOUT = "'StaticCache' object has no attribute 'update_conv_state'"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The folder of a user's files."""
    files = {
        "make.py": MAKE, "report.py": REPORT, "status.py": STATUS, "check.sh": CHECK, "test_early.py": TESTS,
        "test_new.py": NEW_NAME,
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "check.sh").chmod(0o755)
    return tmp_path


@pytest.fixture
def context(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    """A run of a command on the tests' caches."""
    monkeypatch.setenv("HEADWATER_CACHE", str(CACHE))
    with ExitStack() as exits:
        yield Context(root, silent, False, exits)


@pytest.fixture
def ends(context: Context, here: Path) -> Show:
    """Probe what a word names on 5.4.0, 5.10.1 and `more` releases, and judge all by what those two teach."""
    prober = context.prober(ProbeOptions())

    def show(word: str, upstream: UpstreamFiles | None = None, *more: str) -> list[ProbeResult]:
        target = load_target(context.workspace, word, folder=here, upstream=upstream)
        rows = [
            prober.probe(context.subjects.release(context.workspace.pins.find(release)), target.case, "cpu")
            for release in ("5.4.0", "5.10.1", *more)
        ]
        learned = learn(target.case, "transformers", rows[1].outcomes, rows[0].outcomes).case
        return [rejudged(row, learned) for row in rows]

    return show


def told(row: ProbeResult) -> tuple[str, str | None, str | None]:
    return row.verdict.value, row.evidence.type, row.evidence.message


def test_what_the_ends_of_the_reports_plain_script_teach_tells_other_releases_apart(ends: Show) -> None:
    rows = ends("report.py", None, "5.5.0", "5.12.1", "5.13.0")
    assert told(rows[0]) == ("absent", "AttributeError", WITHOUT)
    assert told(rows[1]) == ("bad", "RuntimeError", BUG)
    assert str(rows[1].evidence.frame).endswith(" in update_conv_state")
    assert [row.verdict.value for row in rows] == ["absent", "bad", "bad", "bad", "good"]


@pytest.mark.parametrize(
    "word", ["test_early.py::test_early", pytest.param("test_early.py::test_often[1]", marks=pytest.mark.slow)]
)
def test_a_test_of_the_same(ends: Show, word: str) -> None:
    good, bad = ends(word)
    assert told(good) == ("absent", "AttributeError", WITHOUT)
    assert told(bad) == ("bad", "RuntimeError", BUG)
    assert str(bad.evidence.frame).endswith(" in update_conv_state")


def test_a_script_that_speaks_statuses(ends: Show) -> None:
    good, bad = ends("status.py")
    assert told(good) == ("untestable", "ExitStatus125", "no such method")
    assert told(bad) == ("bad", "ExitStatus1", f"broken: {BUG}")


@pytest.mark.slow
def test_an_executable(ends: Show) -> None:
    good, bad = ends("check.sh")
    assert told(good) == ("good", None, None)
    assert told(bad) == ("bad", "ExitStatus1", f"RuntimeError: {BUG}")


def test_results_by_test(ends: Show) -> None:
    assert [row.verdict for row in ends("test_early.py::OldTest::test_numbers")] == [Verdict.GOOD, Verdict.GOOD]
    skipped = ends("test_early.py::OldTest::test_skipped")
    assert [told(row) for row in skipped] == [("untestable", "NoTestRan", "Skipped: not today")] * 2
    several = ends("test_early.py::test_often")
    assert told(several[0]) == ("absent", "TestsFailed", "test_often[1]: AttributeError")
    assert told(several[1]) == ("bad", "TestsFailed", "test_often[1]: RuntimeError")
    gone = ends("test_early.py::test_gone")
    message = "ERROR: not found: test_early.py::test_gone"
    assert [told(row)[:2] for row in gone] == [("untestable", "NoTestRan")] * 2
    assert str(gone[0].evidence.message).startswith(message)


def test_a_test_file_that_an_old_release_cannot_import(ends: Show) -> None:
    good, bad = ends("test_new.py")
    assert (good.verdict, good.evidence.type) == (Verdict.ABSENT, "ImportError")
    assert (bad.verdict, bad.evidence.type) == (Verdict.BAD, "AssertionError")


def test_a_test_of_the_upstream_checkout_stays_fixed(ends: Show, here: Path) -> None:
    clone = here / "clone"
    (clone / "tests" / "utils").mkdir(parents=True)
    (clone / "tests" / "utils" / "test_cache.py").write_text(UPSTREAM, encoding="utf-8")
    (clone / "tests" / "common.py").write_text(MAKE, encoding="utf-8")
    identity = ["-c", "user.name=Somebody", "-c", "user.email=somebody@invalid.example"]
    for words in (["init", "--quiet"], ["add", "."], [*identity, "commit", "--quiet", "-m", "tests"]):
        subprocess.run(["git", *words], cwd=clone, check=True)
    upstream = upstream_files(GitDir(clone / ".git"), "HEAD")
    good, bad = ends("tests/utils/test_cache.py::CacheTest::test_often_0_once", upstream)
    assert told(good) == ("absent", "AttributeError", WITHOUT)
    assert told(bad) == ("bad", "RuntimeError", BUG)
    rows = ends("tests/utils/test_cache.py::CacheTest::test_often_1_never_at_all", upstream)
    assert [row.verdict for row in rows] == [Verdict.GOOD, Verdict.GOOD]
