# SPDX-License-Identifier: Apache-2.0
"""What real cases run of real releases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from headwater.commands.context import Context
from headwater.core.cases import Case, read_case
from headwater.core.events import silent
from headwater.core.recording import Recording
from headwater.core.verdicts import Verdict, judge
from headwater.effects.probe import ProbeOptions, Subject

pytestmark = [pytest.mark.releases, pytest.mark.slow]
CACHE_UTILS = "transformers/cache_utils.py"
HEAD = """\
# /// case
# id = "example"
# title = "An example"
# references = []
# severity = "unclear"
# time_limit = 200
# [[signature]]
# type = "Nothing"
# message = ''
# ///
"""
# Says, by a digest, which files of the library are loaded when it ends.
LAZY = """
import hashlib, os, sys, transformers
def run(device):
    transformers.BertConfig, transformers.LlamaConfig, transformers.StaticCache, transformers.models.t5.T5Config
    root = os.path.dirname(os.path.dirname(transformers.__file__)) + os.sep
    files = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    names = sorted(file.removeprefix(root) for file in files if file.startswith(root))
    raise RuntimeError(hashlib.sha256("\\n".join(names).encode()).hexdigest())
"""
COMPILED = """
def run(device):
    import torch
    from transformers.activations import NewGELUActivation
    act = NewGELUActivation()
    torch.compile(act, backend="eager")(torch.ones(2))
"""


@pytest.fixture
def context(root: Path, test_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    """The repository as a workspace, on the tests' caches."""
    monkeypatch.setenv("HEADWATER_CACHE", str(test_cache))
    with ExitStack() as exits:
        yield Context(root, silent, False, exits)


def subject(context: Context, release: str) -> Subject:
    return context.subjects.release(context.workspace.pins.find(release))


def source_line(context: Context, release: str, text: str) -> int:
    """The number of the one line of cache_utils.py that begins so."""
    path = subject(context, release).lay_out().path / CACHE_UTILS
    [number] = [n for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if line.startswith(text)]
    return number


def record(context: Context, release: str, case: Case) -> tuple[Recording, Verdict]:
    """Record a case afresh, and see that it ended as it does when it is not recorded."""
    prober = context.prober(ProbeOptions(fresh=True))
    recording = prober.record(subject(context, release), case, "cpu")
    verdict = prober.probe(subject(context, release), case, "cpu").verdict
    assert judge(recording.outcome, case.signatures) is verdict
    return recording, verdict


def example(text: str) -> Case:
    source = HEAD + text
    return read_case("example.py", source, {"example.py": source.encode()})


def test_a_bug_and_its_fix(context: Context) -> None:
    """The lines that ran on one side only hold what the fix is made of."""
    case = context.workspace.cases()["early-init"]
    bad, verdict = record(context, "5.12.1", case)
    assert verdict is Verdict.BAD and bad.complete
    good, verdict = record(context, "5.13.0", case)
    assert verdict is Verdict.GOOD and good.complete
    assert [frame.function for frame in bad.frames] == ["update_conv_state"]
    assert {frame.file for frame in bad.frames} == {CACHE_UTILS}
    last = bad.frames[-1]
    assert f"{last.file}:{last.line} in {last.function}" == bad.outcome.evidence.frame
    assert good.frames == ()
    for release, recording in (("5.12.1", bad), ("5.13.0", good)):
        loop = source_line(context, release, "    def early_initialization(")
        assert loop in recording.lines[CACHE_UTILS]
        assert 20 <= len(recording.imported) <= 60
        assert 3000 <= sum(map(len, recording.lines.values())) <= 8000
        assert set(recording.lines) <= recording.imported


@pytest.mark.slow
def test_what_is_imported_lazily_is_seen(context: Context) -> None:
    recording, _verdict = record(context, "5.12.1", example(LAZY))
    wanted = hashlib.sha256("\n".join(sorted(recording.imported)).encode()).hexdigest()
    assert recording.outcome.evidence.message == wanted
    assert {"transformers/models/bert/configuration_bert.py", CACHE_UTILS} <= recording.imported
    assert recording.complete


@pytest.mark.slow
def test_compiled_code_is_a_gap(context: Context) -> None:
    recording, verdict = record(context, "5.12.1", example(COMPILED))
    assert verdict is Verdict.GOOD, recording.outcome
    assert recording.gaps == ("torch.compile traced code without running it",)
    assert "transformers/activations.py" in recording.lines
