# SPDX-License-Identifier: Apache-2.0
"""What a probe's child is told, may see and says: phases, frames, devices, its environment, its folder."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING

import pytest

from headwater.core.errors import HarnessError
from headwater.core.keys import Limits
from headwater.core.verdicts import Evidence, Signature, Verdict, judge
from headwater.effects.child_process import Scratch, run_child
from headwater.effects.outcomes import outcome_of
from headwater.effects.workspace import Cache

if TYPE_CHECKING:
    from tests.effects.child.conftest import Probed

Probe = Callable[..., "Probed"]
LIMITS = Limits(seconds=60, memory=0, output=1 << 20, processes=64)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    """An empty scratch folder."""
    made = Scratch(tmp_path / "scratch")
    made.renew({})
    return made


def test_the_phases_in_order(probe: Probe) -> None:
    run = probe("transformers.update()").run
    said = [(event["event"], event.get("phase")) for event in run.events]
    phases = [("phase", phase) for phase in ("device", "library", "case", "run")]
    assert said == [*phases, ("outcome", "run"), ("code", None)]
    assert (run.stop, run.status) == ("exited", 0)
    assert run.last("device") is None
    assert 0 < run.seconds < 60


MANY_TESTS = """
headwater_tests = []
def run(device):
    headwater_tests.extend([("t.py::b[" + "x" * 9000 + "]", "failed", "E: " + "y" * 9000), ("t.py::a", "passed", None)])
    {end}
"""


@pytest.mark.parametrize(("end", "verdict"), [("pass", Verdict.GOOD), ("raise KeyError(1)", Verdict.OTHER_FAILURE)])
def test_a_case_of_many_tests_tells_of_each(probe: Probe, end: str, verdict: Verdict) -> None:
    """A name is whole, however long; a reason may be cut."""
    probed = probe(module=MANY_TESTS.format(end=end))
    assert probed.verdict is verdict
    first, second = probed.outcome.tests
    assert (first.name, first.result, first.reason) == ("t.py::a", "passed", None)
    assert (second.name, second.result) == ("t.py::b[" + "x" * 9000 + "]", "failed")
    assert second.reason is not None and second.reason.startswith("E: yyy") and len(second.reason) == 500


def test_tests_that_cannot_be_read_are_a_harness_error(probe: Probe) -> None:
    with pytest.raises(HarnessError, match=r"name 't\.py::a' twice"):
        probe(module=MANY_TESTS.format(end="headwater_tests.append(('t.py::a', 'skipped', None))"))


BROKEN_IMPORT = "from nowhere_to_be_found import x\n"
WRAPPED_IMPORT = (
    "def __getattr__(name):\n    try:\n        import nowhere_to_be_found\n    except ImportError as error:\n"
    "        raise RuntimeError('Failed to import transformers.x') from error\n"
)
CAUSED_ELSEWHERE = (
    "def __getattr__(name):\n    try:\n        import nowhere_to_be_found\n    except ImportError:\n"
    "        raise RuntimeError('not the import is to blame')\n"
)


@pytest.mark.parametrize(
    ("init", "module", "phase", "import_failure", "verdict"),
    [
        (BROKEN_IMPORT, "def run(device): pass", "library", True, Verdict.UNTESTABLE),
        ("raise RuntimeError('at import')", "def run(device): pass", "library", False, Verdict.UNTESTABLE),
        ("def", "def run(device): pass", "library", False, Verdict.UNTESTABLE),
        ("", "import nowhere_to_be_found", "case", True, Verdict.UNTESTABLE),
        ("", "from transformers import gone\ndef run(device): pass", "case", True, Verdict.UNTESTABLE),
        ("", "raise RuntimeError('case')", "case", False, Verdict.OTHER_FAILURE),
        ("", "x = 1", "run", False, Verdict.OTHER_FAILURE),
        (WRAPPED_IMPORT, "import transformers\ndef run(device): transformers.x", "run", True, Verdict.UNTESTABLE),
        (CAUSED_ELSEWHERE, "import transformers\ndef run(device): transformers.x", "run", False, Verdict.OTHER_FAILURE),
    ],
    ids=[
        "library import", "library raises", "library syntax", "case import", "case imports what is gone", "case raises",
        "no run", "import failure as cause", "import failure only as context",
    ],
)  # fmt: skip
def test_how_far_it_came_and_whether_an_import_failed(
    probe: Probe, init: str, module: str, phase: str, import_failure: bool, verdict: Verdict
) -> None:
    probed = probe(module=module, library={"__init__.py": init}, signatures=())
    assert (probed.outcome.end, probed.outcome.phase) == ("raised", phase)
    assert (probed.outcome.import_failure, probed.verdict) == (import_failure, verdict)


def test_a_bug_that_breaks_the_import_is_bad(probe: Probe) -> None:
    signature = Signature("ModuleNotFoundError", "nowhere_to_be_found")
    assert probe(library={"__init__.py": BROKEN_IMPORT}, signatures=(signature,)).verdict is Verdict.BAD


def test_absent(probe: Probe) -> None:
    module = (
        "from kit import Absent\nimport transformers\n"
        "def run(device):\n    if not hasattr(transformers, 'feature'): raise Absent('no feature here')\n"
    )
    kit = "class Absent(Exception):\n    headwater_outcome = 'absent'\n"
    probed = probe(module=module, beside={"kit.py": kit}, signatures=(Signature("Absent", ""),))
    assert (probed.outcome.end, probed.verdict) == ("absent", Verdict.ABSENT)
    assert probed.outcome.evidence == Evidence("Absent", "no feature here", None)


@pytest.mark.parametrize(
    ("body", "frame"),
    [
        ("transformers.update()", "transformers/cache_utils.py:2 in update"),
        ("transformers.call(transformers.update)", "transformers/cache_utils.py:2 in update"),
        ("transformers.call(lambda: 1 / 0)", "transformers/cache_utils.py:6 in call"),
        ("1 / 0", None),
        ("transformers.call(lambda: os.stat('/nowhere/to/be/found'))", "transformers/cache_utils.py:6 in call"),
        ("import json; json.loads('{')", None),
        ("del sys.modules['transformers']; transformers.update()", None),
    ],
)
def test_the_deepest_frame_inside_the_library(probe: Probe, body: str, frame: str | None) -> None:
    assert probe(body).outcome.evidence.frame == frame


def test_the_frame_of_a_tree_behind_links(probe: Probe, tree: Path) -> None:
    shared = tree.parent / "shared"
    (tree / "transformers").rename(shared)
    (tree / "transformers").mkdir()
    for path in shared.iterdir():
        (tree / "transformers" / path.name).symlink_to(path)
    assert probe("transformers.update()").outcome.evidence.frame == "transformers/cache_utils.py:2 in update"


def test_a_device_that_is_not_there(probe: Probe) -> None:
    probed = probe(device="cuda")
    assert (probed.outcome.end, probed.outcome.phase, probed.verdict) == ("no-device", "device", Verdict.UNAVAILABLE)
    assert "no NVIDIA driver" in str(probed.outcome.evidence.message)


@pytest.mark.parametrize("device", ["cpu", "meta", "cuda:1"])
def test_the_case_gets_the_device_by_name(probe: Probe, device: str) -> None:
    probed = probe("raise LookupError(device)", device=device)
    if device == "cuda:1":
        assert probed.outcome.end == "no-device"
    else:
        assert probed.outcome.evidence.message == device


@pytest.mark.parametrize("torch", ["broken", "crashes"])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_broken_torch_is_no_matter_of_the_library(probe: Probe, torch: str, device: str) -> None:
    probed = probe(extra={"TORCH": torch}, device=device)
    assert (probed.outcome.end, probed.verdict) == ("harness", Verdict.HARNESS_ERROR)
    assert torch == "crashes" or "libtorch.so" in str(probed.outcome.evidence.message)


def test_asking_for_devices(python: Path, scratch: Scratch) -> None:
    said = {}
    for device in ("cpu", "cuda"):
        variables: dict[str, str] = {}
        request = {"op": "device", "device": device, "work": str(scratch.work), "variables": variables}
        run = run_child(python, request, scratch, LIMITS)
        said[device] = run.last("device")
    assert said["cpu"] is not None and said["cpu"]["available"] is True
    assert said["cuda"] is not None and said["cuda"]["available"] is False
    assert said["cuda"]["reason"] == "Found no NVIDIA driver on your system.\nMore lines."


SECRETS = (
    "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "PIP_INDEX_URL",
    "UV_DEFAULT_INDEX", "SSH_AUTH_SOCK", "OPENAI_API_KEY", "PYTHONPATH", "PYTHONSTARTUP", "HTTPS_PROXY",
    "XDG_CACHE_HOME",
)  # fmt: skip


def test_what_it_sees_of_the_callers_environment(
    probe: Probe, monkeypatch: pytest.MonkeyPatch, home: Path, tmp_path: Path
) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    probed = probe(
        "import json; print(json.dumps([dict(os.environ), os.getcwd(), sys.path, sys.flags.isolated]))",
        extra={"HEADWATER_DEVICE": "cpu"},
    )
    environ, folder, path, isolated = json.loads(probed.run.output)
    assert "hunter2" not in probed.run.output
    assert not set(SECRETS) & set(environ)
    assert (environ["OMP_NUM_THREADS"], environ["HEADWATER_DEVICE"], environ["HF_HUB_OFFLINE"]) == ("3", "cpu", "1")
    incoming = str(tmp_path / "cache" / "incoming")
    for place in (environ["HOME"], environ["TMPDIR"], environ["HF_HOME"], folder):
        assert place.startswith(incoming)
    assert not [entry for entry in path if entry.startswith((str(home), str(Path.cwd())))]
    assert isolated == 1


def test_what_a_case_writes_goes_with_it(probe: Probe, cache: Cache, tree: Path) -> None:
    probed = probe(
        "from pathlib import Path\n"
        "for place in ('.', Path.home(), os.environ['TMPDIR']): Path(place, 'left').write_text('x')"
    )
    assert probed.verdict is Verdict.GOOD
    assert list(cache.incoming.iterdir()) == []
    assert list(tree.parent.parent.rglob("left")) == []


@pytest.mark.parametrize("kind", ["missing", "no program"])
def test_an_interpreter_that_cannot_be_started(tmp_path: Path, scratch: Scratch, kind: str) -> None:
    python = tmp_path / "python"
    if kind == "no program":
        python.write_bytes(b"")
    with pytest.raises(HarnessError, match=rf"{python} could not be started"):
        run_child(python, {"op": "probe", "variables": {}}, scratch, LIMITS)


@pytest.mark.parametrize("program", ["true", "false", "cat"])
def test_an_interpreter_that_is_none_is_a_harness_error(scratch: Scratch, program: str) -> None:
    python = shutil.which(program)
    assert python is not None
    for _ in range(5):
        run = run_child(Path(python), {"op": "probe", "variables": {}}, scratch, LIMITS)
        assert judge(outcome_of(run, LIMITS), ()) is Verdict.HARNESS_ERROR


@pytest.mark.parametrize("kind", ["file", "folders"])
def test_byte_code_that_cannot_be_kept_changes_nothing(probe: Probe, cache: Cache, kind: str) -> None:
    if kind == "file":
        cache.root.mkdir()
        cache.code.write_bytes(b"in the way")
    else:
        probe()
        for entry in cache.code.glob("*/*/*"):
            entry.unlink()
            entry.mkdir()
    probed = probe()
    assert probed.verdict is Verdict.GOOD
    code = probed.run.last("code")
    assert code is not None and (code["compiled"], code["loaded"], code["damaged"]) == (2, 0, [])


def test_no_descriptor_is_left_open(probe: Probe) -> None:
    probe()
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(3):
        probe("os.fork()")
    assert len(list(Path("/dev/fd").iterdir())) == before


HARNESS = """
import sys
from pathlib import Path
from headwater.core.keys import Limits
from headwater.effects.child_process import Scratch, run_child
python, tree, manifest, case, folder = sys.argv[1:]
scratch = Scratch(Path(folder))
scratch.renew({"case.py": Path(case).read_bytes()})
request = {"op": "probe", "tree": tree, "manifest": manifest, "code": folder + "/code", "package": "transformers",
           "cases": str(scratch.cases), "case": "case.py", "device": "cpu", "memory": 0, "work": str(scratch.work),
           "variables": {}, "torch": True}
run_child(Path(python), request, scratch, Limits(600, 0, 1 << 20, 64))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_child_ends_when_headwater_is_killed(
    python: Path, tree: Path, manifest: Callable[[], Path], tmp_path: Path, start_python: Callable[..., Popen[str]]
) -> None:
    number, case = tmp_path / "number", tmp_path / "case.py"
    text = (
        "import os, time\nfrom pathlib import Path\n"
        f"def run(device):\n    Path({str(number)!r}).write_text(f'{{os.getpid()}}\\n')\n    time.sleep(60)\n"
    )
    case.write_text(text, encoding="utf-8")
    harness = start_python(HARNESS, python, tree, manifest(), case, tmp_path / "scratch")
    while not number.exists() or not number.read_text().endswith("\n"):
        assert harness.poll() is None
        time.sleep(0.02)
    child = Path("/proc", number.read_text().strip())
    assert child.exists()
    harness.kill()
    harness.wait()
    for _ in range(100):
        if not child.exists() or "State:\tZ" in (child / "status").read_text():
            return
        time.sleep(0.05)
    os.kill(int(child.name), 9)
    pytest.fail("the child runs on")
