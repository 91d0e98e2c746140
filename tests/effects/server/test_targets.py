# SPDX-License-Identifier: Apache-2.0
"""What a user wants hunted, run by a fork server: scripts, exit statuses, executables, and what travels with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.core.errors import BadInput, ToldToStop
from headwater.core.learning import learn, rejudged
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Verdict
from headwater.effects.git import GitDir
from headwater.effects.probe import ProbeOptions, Prober, Subject
from headwater.effects.targets import Target, load_target, upstream_files
from headwater.effects.workspace import Workspace
from tests.effects.server.conftest import PACKAGE, a_pin

if TYPE_CHECKING:
    from tests.effects.server.conftest import Lab

Hunt = Callable[..., ProbeResult]
MENDED = {"cache_utils.py": "def update():\n    return 1\n\n\ndef call(function):\n    return function()\n"}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The folder of a user's files."""
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.fixture
def load(workspace: Path, here: Path) -> Callable[..., Target]:
    """Load what a word names, in the user's folder."""
    return partial(load_target, Workspace(workspace), folder=here)


@pytest.fixture
def probe(lab: Lab, load: Callable[..., Target]) -> Iterator[Hunt]:
    """Probe what a word names on the library, where `files` replaces some of its files."""
    with Prober(lab.cache, lab.environments, PACKAGE, ProbeOptions(), lab.events.append) as prober:

        def run(word: str, files: dict[str, str] | None = None) -> ProbeResult:
            tree = lab.read(lab.write(files))
            subject = Subject("1.0", a_pin(), tree, partial(lab.trees.ensure, tree))
            return prober.probe(subject, load(word).case, "cpu")

        yield run


def write(path: Path, text: str, executable: bool = False) -> None:
    path.write_text(text, encoding="utf-8")
    if executable:
        path.chmod(0o755)


def test_a_raw_script_learns_at_its_ends_without_another_probe(
    probe: Hunt, load: Callable[..., Target], here: Path
) -> None:
    write(here / "report.py", "import transformers\nif __name__ == '__main__':\n    transformers.update()\n")
    absent = {"cache_utils.py": "call = 1\ndef update():\n    raise AttributeError('no such thing')\n"}
    third = {"cache_utils.py": "call = 1\ndef update():\n    raise KeyError('x')\n"}
    deeper = "def inner():\n    raise RuntimeError('The size of tensor a (4) must match')\n"
    elsewhere = {"cache_utils.py": f"call = 1\n{deeper}def update():\n    inner()\n"}
    rows = [probe("report.py", files) for files in (None, absent, third, elsewhere, MENDED)]
    assert [row.verdict for row in rows] == [Verdict.OTHER_FAILURE] * 4 + [Verdict.GOOD]
    learned = learn(load("report.py").case, "transformers", rows[0].outcomes, rows[1].outcomes)
    words = [rejudged(row, learned.case).verdict for row in rows]
    assert words == [Verdict.BAD, Verdict.ABSENT, Verdict.OTHER_FAILURE, Verdict.OTHER_FAILURE, Verdict.GOOD]
    assert rows[0].evidence.frame == "transformers/cache_utils.py:2 in update"
    assert probe("report.py").cached


@pytest.mark.parametrize(
    ("code", "verdict", "kind", "message"),
    [
        ("", Verdict.GOOD, None, None),
        ("sys.exit()", Verdict.GOOD, None, None),
        ("sys.exit(0)", Verdict.GOOD, None, None),
        ("sys.exit(256)", Verdict.GOOD, None, None),
        ("print('a\\nlast 12 ')\nsys.exit(3)", Verdict.OTHER_FAILURE, "ExitStatus3", "last 12"),
        ("print('first')\nsys.exit('broken')", Verdict.OTHER_FAILURE, "ExitStatus1", "broken"),
        ("sys.exit(127)", Verdict.OTHER_FAILURE, "ExitStatus127", "it printed nothing"),
        ("sys.exit(125)", Verdict.UNTESTABLE, "ExitStatus125", "it printed nothing"),
        ("raise KeyError(1)", Verdict.OTHER_FAILURE, "KeyError", "1"),
    ],
)
def test_a_python_script_speaks_statuses(
    probe: Hunt, here: Path, code: str, verdict: Verdict, kind: str | None, message: str | None
) -> None:
    write(here / "report.py", f"import sys\n{code}\n")
    row = probe("report.py")
    assert (row.verdict, row.evidence.type, row.evidence.message) == (verdict, kind, message)


def test_the_signature_is_the_status_and_the_last_line(probe: Hunt, load: Callable[..., Target], here: Path) -> None:
    script = "import sys, transformers\nstatus, line = transformers.update()\nprint(line)\nsys.exit(status)\n"
    write(here / "report.py", script)
    ends = ["1, 'size 8'", "1, 'size 16'", "2, 'size 8'", "1, 'shape 8'"]
    rows = [
        probe("report.py", {"cache_utils.py": f"call = 1\ndef update():\n    return {end}\n"}) for end in ends
    ]  # fmt: skip
    learned = learn(load("report.py").case, "transformers", rows[0].outcomes).case
    words = [rejudged(row, learned).verdict.value for row in rows]
    assert words == ["bad", "bad", "other-failure", "other-failure"]


@pytest.mark.parametrize("ending", ["sys.exit(128)", "sys.exit(255)", "sys.exit(-1)"])
def test_a_status_from_128_on_stops_everything_and_is_not_kept(probe: Hunt, here: Path, ending: str) -> None:
    write(here / "report.py", f"import sys\nprint('disk full')\n{ending}\n")
    for _attempt in range(2):
        with pytest.raises(ToldToStop, match=r"report\.py on 1\.0 ended with ExitStatus\d+ \(disk full\)"):
            probe("report.py")


def test_an_executable_runs_the_library_that_is_probed(probe: Hunt, here: Path) -> None:
    write(here / "check.sh", "#!/bin/sh\npython ./inner.py || exit 7\n", executable=True)
    write(here / "inner.py", "import transformers\nfrom helper import call\ncall()\n")
    write(here / "helper.py", "from transformers import update as call\n")
    write(here / "unrelated.py", "")
    row = probe("check.sh")
    assert (row.verdict, row.evidence.type) == (Verdict.OTHER_FAILURE, "ExitStatus7")
    assert row.evidence.message == "RuntimeError: The size of tensor a (8) must match"
    assert probe("check.sh", MENDED).verdict is Verdict.GOOD


@pytest.mark.parametrize(
    ("line", "verdict"), [("exit 0", Verdict.GOOD), ("exit 125", Verdict.UNTESTABLE), ("exit 2", Verdict.OTHER_FAILURE)]
)
def test_an_executable_speaks_statuses(probe: Hunt, here: Path, line: str, verdict: Verdict) -> None:
    write(here / "check", f"#!/bin/sh\n{line}\n", executable=True)
    assert probe("check").verdict is verdict


@pytest.mark.parametrize(("line", "status"), [("exit 130", 130), ("kill -9 $$", 137), ("kill -11 $$", 139)])
def test_an_executable_that_says_stop(probe: Hunt, here: Path, line: str, status: int) -> None:
    write(here / "check", f"#!/bin/sh\n{line}\n", executable=True)
    with pytest.raises(ToldToStop, match=f"ExitStatus{status}"):
        probe("check")


def test_a_tree_stays_as_it_was_laid_out(probe: Hunt, lab: Lab, here: Path) -> None:
    write(here / "check", "#!/bin/sh\npython -c 'import transformers.late'\n", executable=True)
    assert probe("check").verdict is Verdict.GOOD
    assert list(lab.cache.trees.rglob("__pycache__")) == []


def test_what_a_script_starts_and_reads(probe: Hunt, here: Path) -> None:
    write(here / "data.json", "[1]")
    code = "import json, subprocess, sys\nassert json.load(open('data.json')) == [1]\nassert sys.argv == [__file__]\n"
    write(here / "report.py", code + "sys.exit(subprocess.run(['python', '-c', 'import transformers']).returncode)\n")
    assert probe("report.py").verdict is Verdict.GOOD


def test_a_file_that_a_script_names_is_part_of_what_is_known(probe: Hunt, here: Path) -> None:
    write(here / "report.py", "assert open('data.txt').read() == 'x'\n")
    for content, verdict in (("x", Verdict.GOOD), ("y", Verdict.OTHER_FAILURE)):
        write(here / "data.txt", content)
        row = probe("report.py")
        assert (row.verdict, row.cached) == (verdict, False)
    assert probe("report.py").cached


def test_words(load: Callable[..., Target], here: Path) -> None:
    early = load("early-init")
    assert (early.kind, early.learns, early.case.id) == ("case", False, "early-init")
    write(here / "early-init", "#!/bin/sh\n", executable=True)
    assert load("early-init").kind == "case"
    assert load("./early-init").kind == "executable"
    with pytest.raises(BadInput, match=r"no case and no file 'gone'; there are: early-init"):
        load("gone")
    with pytest.raises(BadInput, match="needs a git remote"):
        load("tests/utils/test_cache_utils.py::CacheTest::test_x")


def test_a_case_of_a_users_by_its_path(load: Callable[..., Target], here: Path, workspace: Path) -> None:
    source = (workspace / "tests" / "repro" / "early_init.py").read_text(encoding="utf-8")
    write(here / "mine.py", source)
    target = load("mine.py")
    assert (target.kind, target.learns, target.case.file) == ("case", False, "mine.py")
    assert sorted(target.case.files) == ["casekit.py", "layerkit.py", "mine.py"]
    assert target.case.signatures


def test_limits_and_network_of_what_has_no_metadata(load: Callable[..., Target], here: Path) -> None:
    write(here / "report.py", "")
    assert (load("report.py").case.time_limit, load("report.py").case.network) == (300, False)
    target = load("report.py", time_limit=7, network=True)
    assert (target.case.time_limit, target.case.network, target.learns) == (7, True, True)


def test_a_name_that_headwater_needs(load: Callable[..., Target], here: Path) -> None:
    write(here / "headwater_kit.py", "")
    with pytest.raises(BadInput, match="rename it"):
        load("headwater_kit.py")


def test_too_much_to_travel(load: Callable[..., Target], here: Path) -> None:
    write(here / "report.py", "open('model.bin')\n")
    with (here / "model.bin").open("wb") as stream:
        os.truncate(stream.fileno(), 65 << 20)
    with pytest.raises(BadInput, match="at most 64 MiB travel"):
        load("report.py")


def test_a_test_of_the_upstream_checkout(load: Callable[..., Target], here: Path, git: Callable[..., str]) -> None:
    repository = here / "clone"
    (repository / "tests" / "utils").mkdir(parents=True)
    git(here, "init", "--quiet", "clone")
    write(repository / "tests" / "utils" / "test_x.py", "from ..common import A\ndef test_y(): pass\n")
    write(repository / "tests" / "common.py", "A = 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "x")
    commit = git(repository, "rev-parse", "HEAD")
    write(repository / "tests" / "common.py", "A = 2\n")
    upstream = upstream_files(GitDir(repository / ".git"), commit, "v1")
    target = load("tests/utils/test_x.py::test_y", upstream=upstream)
    assert (target.kind, target.learns, target.tests_at) == ("tests", True, "v1")
    assert b"A = 1\n" in target.case.files.values()
    with pytest.raises(BadInput, match="there is no file tests/gone"):
        load("tests/gone.py::test_y", upstream=upstream)
