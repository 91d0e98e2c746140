# SPDX-License-Identifier: Apache-2.0
"""Recordings of what probes ran of the library: the marks that a child makes, and the recordings that are known.

They are kept below `<cache>/recordings/VERSION/TREE/KEY.json.gz`. The key is that of the verdict which the recorded
probe gave, and the version that of the child's recorder: what records is no part of a verdict's key, as a probe that is
not recorded never reads it.
"""

from __future__ import annotations

import gzip
import json
import mmap
import re
from hashlib import sha256
from pathlib import Path
from types import TracebackType

from headwater.child import recorder
from headwater.core.errors import HarnessError
from headwater.core.events import Emit, Note, silent
from headwater.core.recording import Recording, parse_frames, parse_recording, plain_recording
from headwater.core.verdicts import Outcome, is_reusable
from headwater.effects.files import write_atomically
from headwater.effects.trees import Tree
from headwater.effects.watch import ChildRun
from headwater.effects.workspace import Cache

RECORDER = Path(recorder.__file__)
RECORDER_VERSION = sha256(RECORDER.read_bytes()).hexdigest()[:12]
_ENDED_EARLY = "the process ended before the case did, and could not say whether anything was missed"


class Tape:
    """The marks of one recorded probe. A context manager.

    The file stays open here, so that what the case does to it on disk loses nothing.
    """

    def __init__(self, path: Path) -> None:
        """`path`: where the file lies, in a folder of the probe's own."""
        self._path = path
        self._stream = path.open("w+b")
        self._manifest: dict[str, list[object]] = {}
        self._run = ChildRun()

    def __enter__(self) -> Tape:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
        self._path.unlink(missing_ok=True)

    def wind(self, tree: Tree) -> dict[str, str]:
        """Have no mark and room for those of a probe on this tree; what its request says for that."""
        self._manifest = json.loads(tree.manifest.read_text(encoding="utf-8"))["files"]
        self._stream.truncate(0)
        self._stream.truncate(recorder.length_of(self._manifest))
        return {"record": str(self._path)}

    def take(self, run: ChildRun) -> None:
        """Keep how that probe ended."""
        self._run = run

    def recording(self, outcome: Outcome) -> Recording:
        """What the last probe ran."""
        imported, read, lines = set(), set(), {}
        with mmap.mmap(self._stream.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            gaps = [text for place, text in recorder.GAPS.items() if memory[place]]
            gaps += [] if memory[recorder.TOLD] else [_ENDED_EARLY]
            for name, region in recorder.regions(self._manifest).items():
                imported.update([name] if memory[region.flags + recorder.LOADED] else [])
                read.update([name] if memory[region.flags + recorder.READ] else [])
                if memory[region.flags + recorder.RAN]:
                    marks = re.finditer(rb"[^\0]", memory[region.base + 1 : region.base + region.last + 1])
                    numbers = frozenset(mark.start() + 1 for mark in marks)
                    lines.update({name: numbers} if numbers else {})  # an empty file runs, and has no line
        said = self._run.last("record") or {"frames": []}
        frames = parse_frames(said["frames"])
        return Recording(frozenset(imported), frozenset(read), lines, frames, tuple(gaps), outcome)


class Recordings:
    """The recordings that are known."""

    def __init__(self, cache: Cache, emit: Emit = silent) -> None:
        self._folder, self._emit = cache.recordings / RECORDER_VERSION, emit

    def recall(self, tree: str, key: str) -> Recording | None:
        """A recording by its tree and the key of its verdict; None where none is known. One that cannot be read is
        named, and none."""
        path = self._place(tree, key)
        try:
            return parse_recording(json.loads(gzip.decompress(path.read_bytes())))
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, HarnessError) as error:
            self._emit(Note(f"the recording {path} is damaged ({error}); the probe runs anew", warning=True))
            return None

    def keep(self, tree: str, key: str, recording: Recording) -> None:
        """Keep a recording, unless the machine may have been at fault for how its probe ended."""
        if is_reusable(recording.outcome):
            content = json.dumps(plain_recording(recording)).encode("utf-8", "backslashreplace")
            write_atomically(self._place(tree, key), gzip.compress(content, mtime=0))

    def _place(self, tree: str, key: str) -> Path:
        return self._folder / tree / f"{key}.json.gz"
