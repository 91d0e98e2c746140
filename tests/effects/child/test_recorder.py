# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a probe: in the texts of libraries here, every line that is to be recorded ends in `# ran`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.core.keys import Limits
from headwater.core.recording import Frame, Recording, ranges
from headwater.core.verdicts import Verdict
from headwater.effects.recordings import Tape
from headwater.effects.workspace import Cache

if TYPE_CHECKING:
    from tests.effects.child.conftest import Probed, Recorded

Probe = Callable[..., "Probed"]
LIMITS = Limits(seconds=60, memory=4 << 30, output=4 << 20, processes=64)
SHORT = Limits(seconds=3, memory=4 << 30, output=4 << 20, processes=64)


Record = Callable[..., "Recorded"]


def marked(text: str) -> frozenset[int]:
    """The lines that are to be recorded."""
    return frozenset(number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# ran"))


def check(recording: Recording, library: Mapping[str, str]) -> None:
    """Exactly the marked lines are recorded, of exactly the files that have some."""
    wanted = {f"transformers/{name}": ranges(marked(text)) for name, text in library.items() if marked(text)}
    assert {file: ranges(lines) for file, lines in recording.lines.items()} == wanted
    assert recording.gaps == () and recording.complete


PLAIN = """\
import functools  # ran
LIMIT = 3  # ran
if LIMIT > 5:  # ran
    LIMIT = 5
else:
    LIMIT = LIMIT + 0  # ran

def twice(function):  # ran
    @functools.wraps(function)  # ran
    def wrapper(*words):  # ran
        return function(*words) * 2  # ran
    return wrapper  # ran

class Box:  # ran
    kind = "box"  # ran

    @property  # ran
    def size(self):  # ran
        return LIMIT  # ran

    def never(self):  # ran
        return 0

    @twice  # ran
    def grow(self, by):  # ran
        if by < 0:  # ran
            return -by
        for _ in range(100):  # ran
            by += 1  # ran
        return by  # ran
"""


def test_lines_of_the_import_and_of_the_run(record: Record) -> None:
    library = {"box.py": PLAIN}
    recorded = record("from transformers.box import Box\nassert Box().grow(1) == 202 and Box().size", library=library)
    assert recorded.probed.verdict is Verdict.GOOD
    check(recorded.recording, library)
    assert recorded.recording.imported == {"transformers/__init__.py", "transformers/box.py"}
    assert recorded.recording.read == set()
    assert recorded.recording.frames == ()


KINDS = """\
import asyncio  # ran
import contextlib  # ran

def numbers(stop):  # ran
    for n in range(stop):  # ran
        yield n  # ran
    yield -1

async def waits():  # ran
    await asyncio.sleep(0)  # ran
    return 1  # ran

@contextlib.contextmanager  # ran
def held():  # ran
    try:  # ran
        yield 1  # ran
    finally:
        print("x")  # ran

def main(data):  # ran
    with held():  # ran
        pass  # ran
    first = [  # ran
        n + 1  # ran
        for n in data  # ran
    ]
    later = (lambda: 1,  # ran
             lambda: 2)  # ran
    later[0]()  # ran
    try:  # ran
        raise KeyError(1)  # ran
    except KeyError:  # ran
        pass  # ran
    except ValueError:
        pass
    match data:  # ran
        case [0]:  # ran
            return 0
        case _:  # ran
            pass  # ran
    while True:  # ran
        return first  # ran
"""


def test_generators_coroutines_comprehensions_and_the_like(record: Record) -> None:
    library = {"kinds.py": KINDS}
    body = """
    import asyncio
    from transformers import kinds
    steps = kinds.numbers(3)
    assert [next(steps), next(steps)] == [0, 1]
    assert asyncio.run(kinds.waits()) == 1
    assert kinds.main((1, 2)) == [2, 3]
    """
    recorded = record(body, library=library)
    assert recorded.probed.verdict is Verdict.GOOD, recorded.probed.outcome
    check(recorded.recording, library)


LATE = {
    "__init__.py": (
        "import importlib  # ran\ndef __getattr__(name):  # ran\n"
        "    return importlib.import_module('transformers.' + name)  # ran\n"
    ),
    "late.py": "X = 1  # ran\ndef never():  # ran\n    return 2\n",
    "other.py": "Y = 1\n",
    "sub/__init__.py": "from transformers.sub import inner  # ran\n",
    "sub/inner.py": "Z = 1  # ran\n",
}


def test_modules_that_are_imported_late(record: Record) -> None:
    recorded = record("transformers.late.X, transformers.sub.inner.Z", library=LATE)
    check(recorded.recording, LATE)
    names = {f"transformers/{name}" for name in LATE} - {"transformers/other.py"}
    assert recorded.recording.imported == recorded.recording.files == names


def test_threads(record: Record) -> None:
    text = "def work(out):  # ran\n    out.append(1)  # ran\ndef other():  # ran\n    pass\n"
    body = """
    import threading
    from concurrent.futures import ThreadPoolExecutor
    from transformers.work import work
    out = []
    thread = threading.Thread(target=work, args=(out,))
    thread.start()
    thread.join()
    assert out == [1]
    """
    check(record(body, library={"work.py": text}).recording, {"work.py": text})


def test_an_exception_with_all_its_frames(record: Record) -> None:
    library = {
        "outer.py": (
            "from transformers.inner import inner  # ran\ndef outer(act):  # ran\n    act()  # ran\n    return 1\n"
            "def start():  # ran\n    return outer(inner)  # ran\n"
        ),
        "inner.py": (
            "def inner():  # ran\n    try:  # ran\n        return deep()  # ran\n    except KeyError as error:  # ran\n"
            "        raise RuntimeError('The size of tensor a (8)') from error  # ran\n"
            "def deep():  # ran\n    raise KeyError('x')  # ran\n"
        ),
    }
    recorded = record("from transformers.outer import start; start()", library=library)
    assert recorded.probed.verdict is Verdict.BAD
    check(recorded.recording, library)
    assert recorded.recording.frames == (
        Frame("transformers/outer.py", 6, "start"),
        Frame("transformers/outer.py", 3, "outer"),
        Frame("transformers/inner.py", 5, "inner"),
        Frame("transformers/inner.py", 3, "inner"),
        Frame("transformers/inner.py", 7, "deep"),
    )


def test_what_ran_before_an_import_failed(record: Record) -> None:
    library = {"__init__.py": "A = 1  # ran\nfrom transformers import bad  # ran\nB = 1\n", "bad.py": "def\n"}
    recorded = record(library=library)
    assert recorded.probed.verdict is Verdict.UNTESTABLE
    check(recorded.recording, library)
    assert recorded.recording.imported == {"transformers/__init__.py", "transformers/bad.py"}
    assert [frame.function for frame in recorded.recording.frames] == ["<module>"]


READS = """
import inspect, linecache, pkgutil
from pathlib import Path
from transformers import read_as_text
here = Path(transformers.__file__).parent
(here / "sub" / ".." / "data.json").read_text()
open(os.fsencode(here / "bytes.txt"), "rb").close()
os.close(os.open(here / "low.txt", os.O_RDONLY))
import io; io.FileIO(here / "raw.txt").close(); open(os.dup(1), "wb").close()
pkgutil.get_data("transformers", "packaged.txt")
inspect.getsource(read_as_text)
os.chdir(here); open("relative.txt").close(); os.chdir(os.environ["TMPDIR"])
try: open(here / "missing.txt")
except FileNotFoundError: pass
os.path.getsize(here / "never.txt")
"""


def test_files_that_are_read(record: Record) -> None:
    names = {"data.json", "bytes.txt", "low.txt", "raw.txt", "packaged.txt", "relative.txt"}
    texts = dict.fromkeys([*names, "never.txt", "sub/x.txt"], "1")
    recorded = record(READS, library={**texts, "read_as_text.py": "X = 1\n"})
    assert recorded.probed.verdict is Verdict.GOOD, recorded.probed.outcome
    assert recorded.recording.read == {f"transformers/{name}" for name in [*names, "read_as_text.py"]}
    assert recorded.recording.imported == {"transformers/__init__.py", "transformers/read_as_text.py"}


TWO = "def one():  # ran\n    return 1  # ran\ndef two():  # ran\n    return 2\n"


IN_THE_WAY = [
    "sys.settrace(None)",
    "import threading; threading.settrace(None)",
    "was = sys.gettrace(); sys.settrace(lambda *words: None); sys.settrace(was)",
]
if sys.version_info >= (3, 12):
    IN_THE_WAY = ["sys.monitoring.free_tool_id(4)", "if sys.monitoring.get_tool(4): sys.monitoring.set_events(4, 0)"]


@pytest.mark.parametrize("body", IN_THE_WAY)
def test_a_case_that_gets_in_the_way_of_tracing(record: Record, body: str) -> None:
    recorded = record(f"from transformers import two\ntwo.one()\n{body}", library={"two.py": TWO})
    assert recorded.probed.verdict is Verdict.GOOD
    [said] = recorded.recording.gaps
    assert "sys.settrace" in said and not recorded.recording.complete
    assert recorded.recording.lines["transformers/two.py"] >= marked(TWO)


@pytest.mark.parametrize(
    "body",
    [
        "subprocess.run([sys.executable, '-c', ''], env={'PYTHONPATH': os.path.dirname(here)})",
        "os.environ['PYTHONPATH'] = os.path.dirname(here); subprocess.run([sys.executable, '-c', ''])",
        "os.system(f'ls {here} > /dev/null')",
        "import multiprocessing; multiprocessing.get_context('spawn').Process(target=print).start()",
    ],
)
def test_a_process_that_may_import_the_library(record: Record, body: str) -> None:
    lines = "import subprocess\nhere = os.path.dirname(transformers.__file__)\n" + body
    [gap] = record(lines, library={"two.py": TWO}).recording.gaps
    assert gap.startswith("a process was started")


UNSHOWABLE = """
import subprocess
class Word(str):
    def __repr__(self): raise KeyError
subprocess.run([Word("true")], check=True)
"""


def test_a_process_whose_words_cannot_be_shown(record: Record) -> None:
    recorded = record(UNSHOWABLE, library={"two.py": TWO})
    assert recorded.probed.verdict is Verdict.GOOD, recorded.probed.outcome
    assert [gap[:21] for gap in recorded.recording.gaps] == ["a process was started"]


def test_what_was_compiled_is_a_gap(record: Record) -> None:
    """torch counts the frames that it looks at; `tests/commands/test_recording_releases.py` has the real one do it."""
    body = "import types; sys.modules['torch._dynamo.convert_frame'] = types.SimpleNamespace(FRAME_COUNTER=1)"
    [gap] = record(body, library={"two.py": TWO}).recording.gaps
    assert gap.startswith("torch.compile")


def test_other_processes_are_no_gap(record: Record) -> None:
    body = "import subprocess; subprocess.run(['true'], check=True); os.system('true')"
    assert record(body, library={"two.py": TWO}).recording.complete


def test_what_a_fork_of_the_case_runs(record: Record) -> None:
    text = "def one():  # ran\n    return 1  # ran\ndef two():  # ran\n    return 2  # ran\n"
    body = """
    from transformers import two
    if os.fork() == 0:
        two.two()
        os._exit(0)
    os.wait()
    two.one()
    """
    check(record(body, library={"two.py": text}).recording, {"two.py": text})


def test_a_copy_that_comes_to_the_end_tells_nothing_of_it(record: Record) -> None:
    recorded = record("if os.fork() == 0: return\nos.wait(); os._exit(0)", library={"two.py": TWO})
    assert [gap[:17] for gap in recorded.recording.gaps] == ["the process ended"]


ENDS = {
    "time limit": ("time.sleep(60)", "time-limit", SHORT),
    "exit": ("os._exit(0)", "died", LIMITS),
    "crash": ("os.abort()", "died", LIMITS),
    "killed": ("os.kill(os.getpid(), 9)", "killed", LIMITS),
    "closed": ("os.closerange(0, 256); two.one()", "died", LIMITS),
}


@pytest.mark.parametrize("how", ENDS)
def test_what_ran_before_a_process_ended_early(record: Record, how: str) -> None:
    body, end, limits = ENDS[how]
    recorded = record(f"from transformers import two\ntwo.one()\n{body}", library={"two.py": TWO}, limits=limits)
    assert recorded.probed.outcome.end == end
    assert recorded.recording.lines["transformers/two.py"] == marked(TWO)
    assert [gap[:17] for gap in recorded.recording.gaps] == ["the process ended"] * (how != "closed")


def test_recursion_to_the_limit(probe: Probe, tmp_path: Path) -> None:
    """The tracing itself may be what goes too deep, a line earlier than the library: then Python ends it."""
    text = "def deep(n):  # ran\n    return deep(n + 1)  # ran\n"
    with Tape(tmp_path / "tape") as tape:
        probed = probe("from transformers.deep import deep; deep(0)", library={"deep.py": text}, tape=tape)
        recording = tape.recording(probed.outcome)
    assert probed.outcome.evidence.type == "RecursionError"
    assert recording.lines["transformers/deep.py"] == marked(text)
    assert 0 < len(recording.frames) <= 500


def test_removing_the_tape_loses_nothing(record: Record, tmp_path: Path) -> None:
    place = str(tmp_path / "tape")
    body = f"from transformers import two\nif os.path.exists({place!r}): os.remove({place!r})\ntwo.one()"
    check(record(body, library={"two.py": TWO}).recording, {"two.py": TWO})


def test_the_library_by_a_link(probe: Probe, tree: Path, tmp_path: Path) -> None:
    """Files that are opened by their real path belong to the tree as well."""
    real = tmp_path / "real"
    tree.rename(real)
    tree.symlink_to(real)
    with Tape(tmp_path / "tape") as tape:
        text = "open(os.path.realpath(os.path.join(os.path.dirname(transformers.__file__), 'data.json'))).close()"
        probed = probe(text, library={"data.json": "1"}, tape=tape)
        recording = tape.recording(probed.outcome)
    assert probed.verdict is Verdict.GOOD, probed.outcome
    assert recording.read == {"transformers/data.json"}
    assert recording.imported == {"transformers/__init__.py", "transformers/cache_utils.py"}


def test_the_case_itself_is_not_recorded(record: Record, cache: Cache) -> None:
    recorded = record("", library={})
    assert recorded.recording.lines == {}
    assert recorded.recording.imported == {"transformers/__init__.py"}
    said = [event["event"] for event in recorded.probed.run.events if event["event"] != "phase"]
    assert said == ["record", "outcome", "code"]
    assert "record" not in json.dumps(recorded.bare.run.events)
