# SPDX-License-Identifier: Apache-2.0
"""A bare environment with a stand-in for torch, a tiny library, and probes of small cases in it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from headwater.core.keys import Limits
from headwater.core.recording import Recording
from headwater.core.verdicts import Outcome, Signature, Verdict, judge
from headwater.effects.blobs import blob_id
from headwater.effects.child_process import Scratch, run_child
from headwater.effects.outcomes import outcome_of
from headwater.effects.recordings import Tape
from headwater.effects.trees import Tree
from headwater.effects.watch import ChildRun
from headwater.effects.workspace import Cache

LIMITS = Limits(seconds=60, memory=4 << 30, output=4 << 20, processes=64)
TORCH = """
import os

if os.environ.get("TORCH") == "broken":
    raise ImportError("libtorch.so: cannot open shared object file")
if os.environ.get("TORCH") == "crashes":
    os.abort()

def empty(*shape, device=None):
    if device.startswith("cuda"):
        raise RuntimeError("Found no NVIDIA driver on your system.\\nMore lines.")
"""
LIBRARY = {
    "__init__.py": "from transformers.cache_utils import call, update\n",
    "cache_utils.py": (
        "def update():\n    raise RuntimeError('The size of tensor a (8) must match')\n\n\n"
        "def call(function):\n    return function()\n"
    ),
}
BUG = Signature("RuntimeError", r"The size of tensor a \(8\)")


@dataclass(frozen=True)
class Probed:
    """What a probe gave: the run, its outcome, and the verdict by the signatures."""

    run: ChildRun
    outcome: Outcome
    verdict: Verdict


@dataclass(frozen=True)
class Recorded:
    """A probe that was recorded, and the same one when it was not."""

    recording: Recording
    probed: Probed
    bare: Probed


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds nothing but the stand-in for torch."""
    folder = tmp_path_factory.mktemp("environment") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "torch.py").write_text(TORCH, encoding="utf-8")
    return folder / "bin" / "python"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The folder that goes on sys.path for the library."""
    folder = tmp_path / "tree" / "src"
    (folder / "transformers").mkdir(parents=True)
    for name, text in LIBRARY.items():
        (folder / "transformers" / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def manifest(tree: Path) -> Callable[[], Path]:
    """Write down what the tree holds now, as the mirror's trees have it beside them."""

    def write() -> Path:
        files = {}
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                state = path.stat()
                blob = blob_id(path.read_bytes())
                files[path.relative_to(tree).as_posix()] = [blob, state.st_size, state.st_mtime_ns]
        place = tree.parent / "manifest.json"
        place.write_text(json.dumps({"schema": 1, "tree": "t", "files": files}), encoding="utf-8")
        return place

    return write


@pytest.fixture
def probe(python: Path, tree: Path, manifest: Callable[[], Path], cache: Cache) -> Callable[..., Probed]:
    """Probe the lines of a case's `run(device)`, or a whole `module`. `library` replaces files of the library; `tape`
    records what runs of it."""

    def run(
        body: str = "", *, module: str | None = None, library: Mapping[str, str] | None = None, limits: Limits = LIMITS,
        device: str = "cpu", beside: Mapping[str, str] | None = None, signatures: tuple[Signature, ...] = (BUG,),
        extra: Mapping[str, str] | None = None, tape: Tape | None = None,
    ) -> Probed:  # fmt: skip
        for name, text in (library or {}).items():
            (tree / "transformers" / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / "transformers" / name).write_text(text, encoding="utf-8")
        lines = textwrap.indent(textwrap.dedent(body).strip() or "pass", "    ")
        text = module or f"import os, sys, time, transformers\ndef run(device):\n{lines}\n"
        with cache.building("probe") as folder:
            scratch = Scratch(folder)
            scratch.renew({name: content.encode() for name, content in {"case.py": text, **(beside or {})}.items()})
            request = {
                "op": "probe", "tree": str(tree), "manifest": str(manifest()), "code": str(cache.code),
                "package": "transformers", "cases": str(scratch.cases), "case": "case.py", "device": device,
                "memory": limits.memory, "work": str(scratch.work), "variables": dict(extra or {}), "torch": True,
                **(tape.wind(Tree("t", tree, manifest())) if tape else {}),
            }  # fmt: skip
            done = run_child(python, request, scratch, limits)
            if tape:
                tape.take(done)
        outcome = outcome_of(done, limits)
        return Probed(done, outcome, judge(outcome, signatures))

    return run


@pytest.fixture
def record(probe: Callable[..., Probed], tmp_path: Path) -> Callable[..., Recorded]:
    """Probe twice, once recorded; both must end alike."""

    def run(body: str = "", *, library: Mapping[str, str], limits: Limits = LIMITS) -> Recorded:
        files = {"__init__.py": "", **library}
        with Tape(tmp_path / "tape") as tape:
            probed = probe(body, library=files, limits=limits, tape=tape)
            recording = tape.recording(probed.outcome)
        assert not (tmp_path / "tape").exists()
        bare = probe(body, library=files, limits=limits)
        assert alike(probed.outcome) == alike(bare.outcome)
        assert probed.verdict is bare.verdict
        return Recorded(recording, probed, bare)

    return run


def alike(outcome: Outcome) -> tuple[object, ...]:
    """What must not depend on being recorded."""
    return (outcome.end, outcome.phase, outcome.evidence, outcome.import_failure, outcome.tests)
