# SPDX-License-Identifier: Apache-2.0
"""Recordings as commands ask for them: by forks and by plain processes, kept, recalled, damaged, thrown away."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.core.recording import Frame, ranges
from headwater.effects import probe as probing
from headwater.effects.recordings import RECORDER_VERSION

if TYPE_CHECKING:
    from tests.effects.server.conftest import Lab

BUG = "transformers.update()"
INIT, UTILS = "transformers/__init__.py", "transformers/cache_utils.py"


def kept(lab: Lab) -> list[Path]:
    return sorted(lab.cache.recordings.rglob("*.json.gz"))


@pytest.mark.parametrize("network", [False, True], ids=["fork", "process"])
def test_what_a_case_runs(lab: Lab, network: bool) -> None:
    with lab.recorder() as record:
        recording = record(BUG, network=network)
    assert lab.counted("forks") == (0 if network else 1)
    assert {file: ranges(lines) for file, lines in recording.lines.items()} == {INIT: "1", UTILS: "1-2,5"}
    assert recording.imported == {INIT, UTILS}
    assert recording.frames == (Frame(UTILS, 2, "update"),)
    assert recording.complete
    assert (recording.outcome.end, recording.outcome.evidence.frame) == ("raised", f"{UTILS}:2 in update")


def test_a_server_that_has_learned_what_to_import_misses_nothing(lab: Lab) -> None:
    """What is imported ahead of probes lies outside of every tree."""
    with lab.recorder(fresh=True) as record:
        first, second = (record("import json.tool; from transformers import late") for _ in range(2))
    assert first.lines == second.lines and first.imported == second.imported == {INIT, UTILS, "transformers/late.py"}


def test_one_is_recorded_once(lab: Lab) -> None:
    with lab.recorder() as record:
        first = record(BUG)
        assert record(BUG) == first
    with lab.recorder() as record:
        assert record(BUG) == first
        assert lab.counted("forks") == 1
        assert record("pass") != first
    assert lab.counted("forks") == 2
    assert len(kept(lab)) == 2
    with lab.recorder(fresh=True) as record:
        assert record(BUG).lines == first.lines
    assert lab.counted("forks") == 3
    assert len(kept(lab)) == 2


def test_recorded_probes_answer_for_no_verdict_and_the_other_way_round(lab: Lab) -> None:
    with lab.recorder() as record:
        record(BUG)
        with lab.prober() as probe:
            assert not probe(BUG).cached
        with lab.recorder() as other:
            other("pass")
    assert lab.counted("forks") == 3


def test_another_tree_is_recorded_by_itself(lab: Lab) -> None:
    other = lab.read(lab.write({"cache_utils.py": "\n\ndef update():\n    pass\ncall = None\n"}))
    lab.write()
    with lab.recorder() as record:
        assert ranges(record(BUG).lines[UTILS]) == "1-2,5"
        assert ranges(record(BUG, tree=other).lines[UTILS]) == "3-5"
    assert {path.parent.name for path in kept(lab)} == {other, lab.read(lab.write())}
    assert {path.parent.parent.name for path in kept(lab)} == {RECORDER_VERSION}


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"{", mtime=0), gzip.compress(b'{"schema": 99}', mtime=0), None],
    ids=["empty", "no gzip", "no JSON", "another schema", "cut off"],
)
def test_a_damaged_recording_is_named_and_made_anew(lab: Lab, content: bytes | None) -> None:
    with lab.recorder() as record:
        first = record(BUG)
        [path] = kept(lab)
        path.write_bytes(path.read_bytes()[:-9] if content is None else content)
        assert record(BUG).lines == first.lines
        [warning] = lab.warnings()
        assert f"the recording {path} is damaged" in warning
        record(BUG)
    assert lab.warnings() == [] and lab.counted("forks") == 2


def test_a_case_has_more_time_while_it_is_recorded(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "_RECORDED", 20)
    with lab.recorder() as record:
        assert record("time.sleep(1.5)", seconds=1).outcome.end == "returned"


def test_what_ran_before_the_time_was_over_is_told_and_not_kept(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "_RECORDED", 1)
    with lab.recorder() as record:
        recording = record("from transformers import late; time.sleep(60)", seconds=2)
    assert recording.outcome.end == "time-limit"
    assert recording.imported == {INIT, UTILS, "transformers/late.py"}
    assert not recording.complete
    assert kept(lab) == []


def test_a_damaged_tree_is_recorded_when_it_is_whole_again(lab: Lab) -> None:
    tree = lab.tree()
    with lab.recorder() as record:
        record("pass")
        place = tree.path / UTILS
        state = place.stat()
        place.chmod(0o644)
        place.write_text(place.read_text(encoding="utf-8").replace("RuntimeError", "ZeroDivision"), encoding="utf-8")
        os.utime(place, ns=(state.st_atime_ns, state.st_mtime_ns))
        recording = record(BUG)
    assert recording.outcome.evidence.type == "RuntimeError"
    assert ranges(recording.lines[UTILS]) == "1-2,5" and recording.complete
    assert len(lab.warnings()) == 1


def test_the_form_on_disk(lab: Lab) -> None:
    with lab.recorder() as record:
        record(BUG)
    [path] = kept(lab)
    found = json.loads(gzip.decompress(path.read_bytes()))
    assert found["schema"] == 1
    assert found["lines"] == {INIT: "1", UTILS: "1-2,5"}
    assert found["frames"] == [[UTILS, 2, "update"]]
