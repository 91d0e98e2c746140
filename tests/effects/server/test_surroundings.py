# SPDX-License-Identifier: Apache-2.0
"""What a probe finds around it: nothing of the caller's, nothing of the probe before, and numbers of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.core.events import Note
from headwater.core.verdicts import Verdict
from headwater.effects.child_process import child_environment

if TYPE_CHECKING:
    from tests.effects.server.conftest import Lab

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork servers are for Linux")

PLACES = """
import tempfile
for place in (os.environ["HOME"], os.environ["TMPDIR"], os.getcwd(), tempfile.gettempdir(), os.path.expanduser("~")):
    assert os.listdir(place) == [], (place, os.listdir(place))
"""
LITTER = """
for place in (os.environ["HOME"], os.environ["TMPDIR"], os.getcwd()):
    os.makedirs(place + "/folder/.hidden/deeper", exist_ok=True)
    os.symlink("/", place + "/link") if not os.path.lexists(place + "/link") else None
    open(place + "/folder/file", "w").close()
    os.chmod(place + "/folder", 0o500)
"""


def test_every_probe_begins_in_empty_folders(lab: Lab) -> None:
    for _again in range(3):
        probed = lab.run(PLACES + LITTER)
        assert probed.verdict is Verdict.GOOD, probed.outcome
    assert lab.counted("servers") == 1


def test_what_lies_beside_a_case_is_what_was_put_there(lab: Lab) -> None:
    body = "here = os.path.dirname(__file__)\nassert os.listdir(here) == ['case.py']\nopen(here + '/x.py', 'w').close()"
    for _again in range(2):
        probed = lab.run(body)
        assert probed.verdict is Verdict.GOOD, probed.outcome


def test_nothing_of_the_caller_s_environment_arrives_that_is_not_allowed(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "s3cr3t-t0ken"
    for name in (
        "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "PYTHONSTARTUP",
        "HF_HUB_CACHE", "XDG_CACHE_HOME", "HTTPS_PROXY", "SSH_AUTH_SOCK", "GIT_DIR", "HEADWATER_CACHE",
    ):  # fmt: skip
        monkeypatch.setenv(name, secret)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    probed = lab.run("print(*(f'{k}={v}' for k, v in os.environ.items()), sep='\\n')")
    seen = dict(line.split("=", 1) for line in probed.run.output.splitlines())
    assert secret not in probed.run.output
    scratch = lab.servers.scratch_of(lab.environments.environment.key)
    own = {"HEADWATER_DEVICE", "HEADWATER_SERVER", "LC_CTYPE"}
    assert set(seen) - own == set(child_environment(scratch))
    assert (seen["OMP_NUM_THREADS"], seen["HF_HUB_OFFLINE"], seen["HEADWATER_DEVICE"]) == ("1", "1", "cpu")
    # Nor is it to be read from where a parent's environment stands.
    parents = "print(open(f'/proc/{os.getppid()}/environ').read())"
    assert secret not in lab.run(parents).run.output


def test_what_a_case_does_to_its_interpreter_stays_there(lab: Lab) -> None:
    lab.run()
    lab.run("import builtins, torch\nbuiltins.len = torch.empty = None\nos.environ['LEFT'] = '1'; sys.path.clear()")
    probed = lab.run("assert len([1]) == 1 and 'LEFT' not in os.environ and sys.path")
    assert probed.verdict is Verdict.GOOD, probed.outcome


def test_random_numbers_differ_between_forks(lab: Lab) -> None:
    lab.run()
    body = "import random, uuid, tempfile\nprint(random.random(), uuid.uuid4(), os.urandom(8).hex(), tempfile.mktemp())"
    seen = [lab.run(body).run.output.split() for _again in range(4)]
    for numbers in zip(*seen, strict=True):
        assert len(set(numbers)) == 4, numbers
    assert lab.counted("servers") == 1


def test_standard_input_is_empty(lab: Lab) -> None:
    assert lab.run("assert sys.stdin.read() == ''").verdict is Verdict.GOOD


def test_a_probe_holds_no_descriptor_of_the_server_s(lab: Lab) -> None:
    lab.run()
    body = (
        "links = {n: os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd') if int(n) > 2\n"
        "         and os.path.exists(f'/proc/self/fd/{n}')}\nprint(links)\n"
        "assert not [t for t in links.values() if 'socket' in t or t.endswith('.log')]"
    )
    probed = lab.run(body)
    assert probed.verdict is Verdict.GOOD, probed.outcome


def test_no_module_of_one_tree_is_there_for_the_next(lab: Lab) -> None:
    first = lab.tree({"late.py": "X = 1\n"})
    second = lab.tree({"late.py": "X = 2\n", "__init__.py": "from .late import X\n"})
    assert lab.run("from transformers.late import X\nassert X == 1", tree=first).verdict is Verdict.GOOD
    assert lab.run("assert transformers.X == 2", tree=second).verdict is Verdict.GOOD
    names = "assert 'transformers' not in sys.modules"
    text = lab.environments.environment.preload.path.read_text(encoding="utf-8")
    assert "transformers" not in text, names


def test_what_a_later_probe_imports_more_is_there_for_those_after_it(lab: Lab) -> None:
    lab.run()
    lab.run("import colorsys")
    assert lab.run("assert 'colorsys' in sys.modules").verdict is Verdict.GOOD
    with lab.prober() as another:
        assert another("assert 'colorsys' in sys.modules").verdict is Verdict.GOOD


@pytest.mark.parametrize("name", ["made", "pytest"])
def test_what_a_probe_made_and_what_runs_tests_is_not_imported_ahead(lab: Lab, name: str) -> None:
    lab.run()
    made = f"import pathlib\npathlib.Path('{name}.py').touch()\nsys.path.insert(0, os.getcwd())\nimport {name}"
    assert lab.run(made).verdict is Verdict.GOOD
    lab.run("import colorsys")  # What is learned next must not bring it along.
    assert lab.run(f"assert '{name}' not in sys.modules").verdict is Verdict.GOOD
    assert not [event for event in lab.events if isinstance(event, Note) and "ahead" in event.text]


def test_the_server_is_gone_with_the_run(lab: Lab) -> None:
    with lab.prober() as probe:
        assert probe().verdict is Verdict.GOOD
        assert any(_serves(number, lab.root) for number in _numbers())
    assert [number for number in _numbers() if _serves(number, lab.root)] == []


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


def _serves(number: int, root: Path) -> bool:
    try:
        return str(root / "env").encode() in Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return False
