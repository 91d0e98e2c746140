# SPDX-License-Identifier: Apache-2.0
"""From WHAT a user wants hunted to a case that a prober can run.

A script, an executable and a test each travel beside a case that Headwater brings, so that limits, store and verdicts
are those of any case. What they are to be known by is learned (`core/learning.py`) unless they are cases themselves.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from headwater.core.cases import Case, read_case, traveling_files
from headwater.core.errors import BadInput
from headwater.core.naming import no_such
from headwater.core.targets import Kind, kind_of, named_files, python_source, take_apart, upstream_closure
from headwater.effects.git import GitDir
from headwater.effects.workspace import PACKAGED_CASES, Workspace

PARAMETERS = "headwater_target.json"
_RUNNERS: Mapping[Kind, str] = {"script": "run_script.py", "executable": "run_executable.py", "tests": "run_tests.py"}
_LIMIT = 64 << 20  # bytes that may travel with a target
_HELPERS = ("conftest.py",)


@dataclass(frozen=True)
class UpstreamFiles:
    """The upstream checkout at one fixed revision, for its tests; `read` gives the content of a path there, or None."""

    revision: str
    read: Callable[[str], bytes | None]


@dataclass(frozen=True)
class Target:
    """What is hunted. `case` can be probed; with `learns` its signatures are empty until `learning.learn` has seen the
    ends. `title` is for people; `tests_at` the revision that an upstream test comes from."""

    kind: Kind
    case: Case
    learns: bool
    title: str
    tests_at: str | None = None


def upstream_files(git: GitDir, commit: str, revision: str | None = None) -> UpstreamFiles:
    """The files of a commit of a repository that holds the upstream history; `revision` is what people call it."""

    def read(path: str) -> bytes | None:
        there = git("ls-tree", commit, "--", path)
        return git.raw("cat-file", "blob", f"{commit}:{path}") if there else None

    return UpstreamFiles(revision or commit, read)


def load_target(
    workspace: Workspace, word: str, *, cases_dir: Path | None = None, folder: Path | None = None,
    upstream: UpstreamFiles | None = None, time_limit: int | None = None, network: bool = False,
) -> Target:  # fmt: skip
    """Find what `word` names: a case's id, a file (below `folder`, by default the current one), or a pytest node id in
    a file or, where there is none, in `upstream`.

    `time_limit` in seconds and `network` are for what has no metadata that says them.

    Raises:
        BadInput: there is no such thing, or it cannot be run.
    """
    cases = workspace.cases(cases_dir)
    if word in cases:
        return Target("case", cases[word], False, word)
    taken = take_apart(word)
    path = (folder or Path.cwd()) / taken.path
    loader = _Loader(workspace, time_limit, network)
    if path.is_file():
        return loader.from_file(path, taken.path, taken.node)
    if taken.node and upstream is not None:
        return loader.from_upstream(taken.path, taken.node, upstream)
    if taken.node:
        raise BadInput(
            f"there is no file {taken.path} here; a test of the upstream checkout needs a git remote (--repo)"
        )
    raise no_such("case and no file", word, cases)


def upstream_suite(workspace: Workspace, path: str, upstream: UpstreamFiles) -> Case:
    """All tests of one file of the upstream checkout as a case, which is `bad` when one fails.

    Raises:
        BadInput: there is no such file, or one that it imports is no Python.
    """
    return _Loader(workspace, None, False).upstream_suite(path, upstream)


def _named_apart(found: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, str]]:
    """Files by names under which they can travel beside one another, and the place of each in the checkout."""
    places = {f"upstream_{n}.py": place for n, place in enumerate(sorted(found))}
    return {name: found[place] for name, place in places.items()}, places


class _Loader:
    """Reads files into cases."""

    def __init__(self, workspace: Workspace, time_limit: int | None, network: bool) -> None:
        self._workspace, self._time_limit, self._network = workspace, time_limit, network

    def from_file(self, path: Path, shown: str, node: str) -> Target:
        """A user's file."""
        content = path.read_bytes()
        kind: Kind = "tests" if node else kind_of(shown, content, os.access(path, os.X_OK))
        if kind == "case":
            case = read_case(path.name, python_source(shown, content), self._python_beside(path.parent))
            return Target("case", case, False, case.id)
        files = self._traveling(path, content, kind)
        title = f"{shown}::{node}" if node else shown
        parameters = {"file": path.name, "node": node, "places": {}}
        case = self._case(_RUNNERS[kind], title, files, parameters)
        return Target(kind, replace(case, signatures=()), True, title)

    def from_upstream(self, path: str, node: str, upstream: UpstreamFiles) -> Target:
        """A test of the upstream checkout, with what it imports from there."""
        title = f"{path}::{node}"
        files, places = _named_apart(upstream_closure(path, upstream.read))
        case = self._case(_RUNNERS["tests"], title, files, {"file": path, "node": node, "places": places})
        return Target("tests", replace(case, signatures=()), True, title, upstream.revision)

    def upstream_suite(self, path: str, upstream: UpstreamFiles) -> Case:
        """All tests of a file of the upstream checkout, with what it imports from there and its conftests."""
        folders = [*Path(path).parents]
        conftests = {str(folder / "conftest.py"): upstream.read(str(folder / "conftest.py")) for folder in folders}
        found = {place: content for place, content in conftests.items() if content is not None}
        files, places = _named_apart({**upstream_closure(path, upstream.read), **found})
        return self._case("upstream_tests.py", path, files, {"file": path, "places": places})

    def _case(self, runner: str, title: str, files: Mapping[str, bytes], parameters: Mapping[str, object]) -> Case:
        siblings = {path.name: path.read_bytes() for path in PACKAGED_CASES.glob("*.py")}
        # Under a name that no file of the user's has.
        name = f"headwater_{runner}"
        case = read_case(name, siblings[runner].decode(), siblings)
        told = {"package": self._workspace.pins.package, **parameters}
        if self._network:
            # What a script shows with the network answers for nothing that it shows without.
            told["network"] = True
        taken = sorted({*case.files, PARAMETERS} & set(files))
        if taken:
            raise BadInput(
                f"{title} comes with a file called {taken[0]}, a name that Headwater needs itself; rename it"
            )
        everything = {**files, **case.files, PARAMETERS: json.dumps(told, sort_keys=True).encode()}
        size = sum(map(len, everything.values()))
        if size > _LIMIT:
            raise BadInput(
                f"{title} and the files that it names are {size >> 20} MiB; at most {_LIMIT >> 20} MiB travel"
            )
        limit = self._time_limit or case.time_limit
        return replace(case, id=title, title=title, files=everything, time_limit=limit, network=self._network)

    def _python_beside(self, folder: Path) -> dict[str, bytes]:
        """The python files of a folder, and the workspace's helpers for cases where it has none of its own."""
        return {
            **self._workspace.helpers,
            **{path.name: path.read_bytes() for path in folder.glob("*.py") if path.is_file()},
        }

    def _traveling(self, path: Path, content: bytes, kind: Kind) -> dict[str, bytes]:
        """A file and those beside it that it imports or names, directly or through another."""
        python = self._python_beside(path.parent)
        beside = {other.name: other for other in path.parent.iterdir() if other.is_file() and other != path}
        found: dict[str, bytes] = {}
        waiting = {path.name: content}
        if kind == "tests":
            waiting |= {name: python[name] for name in _HELPERS if name in python}
        while waiting:
            name, text = waiting.popitem()
            found[name] = text
            # An executable's own text is no Python.
            is_python = name.endswith(".py") or (name == path.name and kind == "script")
            if is_python:
                source = python_source(name, text)
                for other, imported in traveling_files(name, source, python).items():
                    if other not in found:
                        waiting[other] = imported
            if is_python or name == path.name:
                for other in named_files(text, [other for other in beside if other not in found]):
                    waiting[other] = beside[other].read_bytes()
        return found
