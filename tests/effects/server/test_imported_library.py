# SPDX-License-Identifier: Apache-2.0
"""A server imports the library of a tree once for all probes of that tree: none of them may notice, whatever the
library does as it is imported."""

from __future__ import annotations

import random
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.core.keys import Limits
from headwater.core.verdicts import Verdict
from headwater.effects import environment_server

if TYPE_CHECKING:
    from tests.effects.server.conftest import Lab

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork servers are for Linux")

INIT = "from transformers.cache_utils import call, update\n"
THREAD = (
    "import threading, time\nBEGUN = threading.Thread(target=time.sleep, args=(600,), daemon=True)\nBEGUN.start()\n"
)
CHILD = "import subprocess\nBEGUN = subprocess.Popen(['sleep', '600'])\n"


def ready(lab: Lab) -> None:
    """Have the server know what a probe imports from outside the tree: learning that ends what imported without."""
    assert lab.run().verdict is Verdict.GOOD
    assert lab.run().verdict is Verdict.GOOD


def imported_alone(lab: Lab, module: str, seconds: float = 5.0) -> bool:
    """Whether a module with this source comes to be compiled."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            lab.entry(module)
        except ValueError:
            time.sleep(0.02)
        else:
            return True
    return False


def test_a_tree_is_imported_once_for_all_its_probes(lab: Lab) -> None:
    ready(lab)
    other = lab.tree({"__init__.py": f"{INIT}X = 1\n"})
    counts = [lab.run(tree=tree).code()[:2] for tree in (other, other, lab.tree(), other)]
    assert counts == [(1, 1), (0, 0), (0, 0), (0, 0)]


def test_what_a_probe_does_to_the_library_is_not_seen_by_the_next(lab: Lab) -> None:
    tree = lab.tree()
    body = "assert not hasattr(transformers, 'mark')\ntransformers.mark = 1"
    for _ in range(4):
        assert lab.run(body, tree=tree).verdict is Verdict.GOOD


def test_each_tree_has_a_library_of_its_own(lab: Lab) -> None:
    trees = [lab.tree({"__init__.py": f"{INIT}X = {number}\n"}) for number in range(3)]
    for number in (0, 1, 2, 0, 2, 1):
        assert lab.run(f"assert transformers.X == {number}", tree=trees[number]).verdict is Verdict.GOOD


def test_only_some_trees_stay_imported(lab: Lab) -> None:
    ready(lab)
    kept = environment_server._KEPT
    trees = [lab.tree({"__init__.py": f"{INIT}X = {number}\n"}) for number in range(kept + 1)]
    for tree in trees:
        assert lab.run(tree=tree).code()[:2] == (1, 1)
    assert lab.run(tree=trees[-1]).code()[:2] == (0, 0)
    assert lab.run(tree=trees[0]).code()[:2] == (0, 2), "the one that was used longest ago is imported again"
    # The server itself with what waits for its end, and the same two for each tree that is kept.
    assert len(lab.server_processes()) <= 2 * (kept + 2)


@pytest.mark.parametrize("begun", [THREAD, CHILD], ids=["a thread", "a process"])
def test_a_library_that_begins_something_is_imported_by_each_probe(lab: Lab, begun: str) -> None:
    tree = lab.tree({"__init__.py": f"{INIT}{begun}"})
    alive = "is_alive()" if begun is THREAD else "poll() is None"
    body = f"assert transformers.BEGUN.{alive}\nif hasattr(transformers.BEGUN, 'kill'): transformers.BEGUN.kill()"
    for _ in range(2):
        probed = lab.run(body, tree=tree)
        assert probed.verdict is Verdict.GOOD, probed
        assert sum(probed.code()[:2]) == 2


def test_a_library_that_fails_fails_in_the_probe(lab: Lab) -> None:
    tree = lab.tree({"__init__.py": "import transformers.cache_utils\nraise RuntimeError('not today')\n"})
    for _ in range(2):
        probed = lab.run(tree=tree)
        assert (probed.outcome.phase, probed.outcome.evidence.message) == ("library", "not today")


def test_a_library_that_does_not_end_takes_the_time_limit_of_the_probe(lab: Lab) -> None:
    tree = lab.tree({"__init__.py": f"import time\ntime.sleep(600)\n{INIT}"})
    probed = lab.run(tree=tree, limits=Limits(seconds=1, memory=4 << 30, output=1 << 20, processes=64))
    assert (probed.outcome.end, probed.outcome.phase) == ("time-limit", "library")
    # Nothing of that import is left, and the server goes on.
    assert lab.run().verdict is Verdict.GOOD


def test_a_library_that_wants_more_memory_than_a_probe_has(lab: Lab) -> None:
    tree = lab.tree({"__init__.py": f"{INIT}BIG = bytearray(3 << 30)\n"})
    limits = Limits(seconds=20, memory=1 << 30, output=1 << 20, processes=64)
    probed = lab.run(tree=tree, limits=limits)
    assert (probed.outcome.phase, probed.outcome.evidence.type) == ("library", "MemoryError")
    # A probe of another tree has its own limit again, and no other.
    body = "try: bytearray(3 << 30)\nexcept MemoryError: return\nraise AssertionError"
    assert lab.run(body, limits=limits).verdict is Verdict.GOOD
    assert lab.run("bytearray(1 << 30)").verdict is Verdict.GOOD


def test_a_library_that_prints_and_ends_the_process(lab: Lab) -> None:
    tree = lab.tree({"__init__.py": "import os\nprint('to nobody', flush=True)\nos._exit(7)\n"})
    probed = lab.run(tree=tree)
    assert (probed.outcome.end, probed.outcome.phase, probed.run.status) == ("died", "library", 7)
    assert "to nobody" in probed.run.output


def test_a_tree_is_imported_ahead_of_its_probe(lab: Lab) -> None:
    ready(lab)
    source = f"{INIT}X = 'ahead'\n"
    lab.import_ahead(lab.tree({"__init__.py": source}))
    assert imported_alone(lab, source)
    assert lab.run("assert transformers.X == 'ahead'", tree=lab.tree({"__init__.py": source})).verdict is Verdict.GOOD


WRITES = "import os, pathlib\nHOME = pathlib.Path(os.environ['HOME'], 'written')\nHOME.mkdir()\n"
QUIETLY = (
    "try:\n    import os, pathlib\n    pathlib.Path(os.environ['HOME'], 'written').mkdir()\nexcept OSError: pass\n"
)


@pytest.mark.parametrize("writes", [WRITES, QUIETLY], ids=["plainly", "and does not mind"])
def test_what_a_library_writes_as_it_is_imported_is_there_for_its_case(lab: Lab, writes: str) -> None:
    tree = lab.tree({"__init__.py": f"{writes}{INIT}"})
    for _ in range(2):
        assert lab.run("assert os.listdir(os.environ['HOME']) == ['written']", tree=tree).verdict is Verdict.GOOD
    # Imported ahead, it writes nothing where another probe is.
    ready(lab)
    source = f"{writes}{INIT}X = 'ahead'\n"
    lab.import_ahead(lab.tree({"__init__.py": source}))
    assert imported_alone(lab, source)
    time.sleep(0.2)
    assert lab.home() == []


def test_a_library_that_seeds_what_is_drawn(lab: Lab) -> None:
    lab.run("import random")
    tree = lab.tree({"__init__.py": f"import random\nrandom.seed(7)\n{INIT}"})
    expected = random.Random(7).random()
    for _ in range(2):
        assert lab.run(f"import random\nassert random.random() == {expected!r}", tree=tree).verdict is Verdict.GOOD


def test_a_library_that_reads_where_it_is_and_switches_collection_off(lab: Lab) -> None:
    tree = lab.tree({"__init__.py": f"import gc, os\ngc.disable()\nWHERE = os.getcwd()\n{INIT}"})
    body = "import gc\nassert transformers.WHERE == os.getcwd()\nassert not gc.isenabled()"
    for _ in range(2):
        probed = lab.run(body, tree=tree)
        assert probed.verdict is Verdict.GOOD, probed


def test_a_tree_that_is_laid_out_anew_is_imported_anew(lab: Lab) -> None:
    ready(lab)
    source = f"{INIT}import pathlib\nDATA = pathlib.Path(__file__).with_name('data.json').read_text()\n"
    tree = lab.tree({"__init__.py": source})
    assert lab.run("assert transformers.DATA == '[1]\\n', transformers.DATA", tree=tree).verdict is Verdict.GOOD
    data = tree.path / "transformers" / "data.json"
    # While nobody looks; then somebody does, and the tree is made anew.
    data.unlink()
    data.write_text("[2]\n", encoding="utf-8")
    lab.end_server()
    assert lab.run("assert transformers.DATA == '[2]\\n'", tree=tree).verdict is Verdict.GOOD
    again = lab.trees.ensure(tree.id)
    assert lab.run("assert transformers.DATA == '[1]\\n', transformers.DATA", tree=again).verdict is Verdict.GOOD


def test_an_environment_that_is_built_anew_has_a_server_of_its_own(lab: Lab, tmp_path: Path) -> None:
    ready(lab)
    assert lab.counted("servers") == 1
    link = tmp_path / "env"
    shutil.copytree(link.resolve(), tmp_path / "anew", symlinks=True)
    [packages] = (tmp_path / "anew").glob("lib/python*/site-packages")
    (packages / "torch.py").write_text("def empty(*shape, device=None):\n    pass\nANEW = True\n", encoding="utf-8")
    link.unlink()
    link.symlink_to("anew")
    assert lab.run("import torch\nassert torch.ANEW").verdict is Verdict.GOOD
    assert lab.counted("servers") == 2


def test_a_server_that_does_not_run_imports_nothing_ahead(lab: Lab) -> None:
    lab.import_ahead(lab.tree())
    assert lab.counted("servers") == 0
