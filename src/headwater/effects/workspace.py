# SPDX-License-Identifier: Apache-2.0
"""Where things lie: the workspace with its pins, cases and series, and the caches beside it or shared."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from filelock import FileLock

from headwater.core.atlas import Atlas, read_atlas
from headwater.core.cases import Case, metadata_block, read_case
from headwater.core.errors import BadInput, HarnessError
from headwater.core.known_failures import KnownFailure, read_known_failures
from headwater.core.naming import no_such
from headwater.core.pins import Pins, read_pins
from headwater.effects.files import clear_away
from headwater.effects.series_folder import Series, read_series_folder, series_names

HELPER = "casekit.py"
# Cases that Headwater brings itself, because they run what a patch or a user brings.
PACKAGED_CASES = Path(__file__).parent.parent / "cases"


def find_root(start: Path) -> Path:
    """The workspace that `start` lies in: HEADWATER_WORKSPACE, else the nearest folder with pins, `upstream/*.toml`.

    Raises:
        BadInput: there is none.
    """
    named = os.environ.get("HEADWATER_WORKSPACE")
    candidates = [Path(named)] if named else [start, *start.parents]
    for folder in candidates:
        if pins_below(folder):
            return folder.resolve()
    where = f"HEADWATER_WORKSPACE={named}" if named else f"{start} and the folders above it"
    raise BadInput(
        f"no workspace: {where} holds no upstream/<library>.toml. Run inside a workspace, pass --workspace, or lay one "
        "out with `headwater init FOLDER`"
    )


def pins_below(folder: Path) -> list[Path]:
    """The pins files of a workspace at `folder`; none where it is no workspace."""
    return sorted((folder / "upstream").glob("*.toml"))


@dataclass(frozen=True)
class Cache:
    """The folder with everything that can be made again: mirror, trees, environments, wheels; and the store.
    `library` names the mirror, which alone is not keyed by content: workspaces of several libraries may share the rest.
    """

    root: Path
    library: str

    @property
    def mirror(self) -> Path:
        """The bare repository."""
        return self.root / f"{self.library}.git"

    @property
    def remotes(self) -> Path:
        """One bare repository for each place that commits were read from."""
        return self.root / "remotes"

    @property
    def wheels(self) -> Path:
        """Downloaded wheels, each under the name that the index gives it."""
        return self.root / "wheels"

    @property
    def trees(self) -> Path:
        """One folder a tree, named by its id."""
        return self.root / "trees"

    @property
    def blobs(self) -> Path:
        """The files of trees, by their git blob id."""
        return self.root / "blobs"

    @property
    def code(self) -> Path:
        """Byte code of the files of trees, by Python and blob id."""
        return self.root / "code"

    @property
    def recordings(self) -> Path:
        """What probes ran of the library, by recorder, tree and key."""
        return self.root / "recordings"

    @property
    def answers(self) -> Path:
        """What hunts and reductions answered last, a folder a case."""
        return self.root / "answers"

    @property
    def environments(self) -> Path:
        """One folder an environment, named by its key."""
        return self.root / "envs"

    @property
    def locks(self) -> Path:
        """Locks of the packages of a day."""
        return self.root / "locks-by-day"

    @property
    def store(self) -> Path:
        """The database of verdicts."""
        return self.root / "store.sqlite3"

    @property
    def incoming(self) -> Path:
        """Where things are built before they are renamed into place."""
        return self.root / "incoming"

    def lock(self, name: str) -> FileLock:
        """A lock between processes; it goes with its holder, however that ends."""
        self.root.mkdir(parents=True, exist_ok=True)
        return FileLock(self.root / f"{name}.lock")

    @contextmanager
    def used(self, exclusive: bool) -> Iterator[None]:
        """Hold the caches: many runs may use them at once, and only one that removes things has them alone.

        Raises:
            HarnessError: they are in use, or being removed from.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "use.lock").open("w") as lock:
            try:
                fcntl.flock(lock, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except BlockingIOError as error:
                other = "other runs use" if exclusive else "another run removes things from"
                raise HarnessError(f"{other} the caches in {self.root}; try again when they have ended") from error
            yield

    @contextmanager
    def building(self, name: str) -> Iterator[Path]:
        """A fresh folder to build in; whatever is left in it afterwards is removed."""
        self.incoming.mkdir(parents=True, exist_ok=True)
        # The process's number stands in the name, so that pruning tells what is being built from what was left.
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-{os.getpid()}-", dir=self.incoming))
        try:
            yield folder
        finally:
            with contextlib.suppress(OSError):
                clear_away(folder)

    def require_space(self, needed: int, what: str) -> None:
        """Refuse to begin what would fill the disk; `needed` in bytes.

        Raises:
            HarnessError: less is free.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.root).free
        if free < needed:
            raise HarnessError(
                f"{what} needs about {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free in {self.root}; "
                "make room (`headwater cache prune`) or point HEADWATER_CACHE at another disk"
            )


@dataclass(frozen=True)
class Workspace:
    """A workspace, by its root folder. It is about one library: the one whose pins it has."""

    root: Path

    @property
    def upstream(self) -> Path:
        """What is contributed to: pins, locks, checkouts."""
        return self.root / "upstream"

    @cached_property
    def pins_file(self) -> Path:
        """The pins, named by the library.

        Raises:
            BadInput: there are those of several libraries.
        """
        found = pins_below(self.root)
        if len(found) > 1:
            raise BadInput(
                f"upstream/ holds {' and '.join(path.name for path in found)}, and the cases, series and atlas of a "
                "workspace are about one library; leave one here, and lay out a workspace for the other with "
                "`headwater init FOLDER`"
            )
        return found[0]

    @property
    def checkouts(self) -> Path:
        """Git work trees for people."""
        return self.upstream / "checkouts"

    @cached_property
    def cache(self) -> Cache:
        """The caches: HEADWATER_CACHE where several workspaces share them, else under `upstream/`."""
        named = os.environ.get("HEADWATER_CACHE")
        return Cache(Path(named).resolve() if named else self.upstream, self.pins_file.stem)

    @cached_property
    def pins(self) -> Pins:
        """The pins, read once.

        Raises:
            BadInput: they cannot be read, or are not those of the library that the file is named by.
        """
        file = self.pins_file
        pins = read_pins(self.read_text(file), f"upstream/{file.name}")
        if pins.package != file.stem:
            raise BadInput(f"upstream/{file.name} has the pins of {pins.package}; call it {pins.package}.toml")
        return pins

    def read_text(self, path: Path) -> str:
        """A text file of the workspace.

        Raises:
            BadInput: it is no UTF-8.
        """
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{path.relative_to(self.root)}: not UTF-8 at byte {error.start}") from error

    def lock_text(self, lock: str) -> str:
        """The text of an environment group's lock.

        Raises:
            BadInput: the file is not there.
        """
        path = self.upstream / lock
        if not path.is_file():
            named_by = self.pins_file.name
            raise BadInput(
                f"upstream/{lock}, which {named_by} names, is missing; `headwater pins update --locks` makes it"
            )
        return self.read_text(path)

    @property
    def imports_file(self) -> Path:
        """The list of `imports`."""
        return self.upstream / "locks" / "imports.txt"

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """The modules of environments' packages that probes import, in the order in which they do; none where the
        workspace has no list."""
        path = self.imports_file
        lines = self.read_text(path).splitlines() if path.is_file() else []
        return tuple(line for line in lines if line and not line.startswith("#"))

    @property
    def own_cases(self) -> Path:
        """The folder with the workspace's own cases."""
        return self.root / "tests" / "repro"

    @property
    def atlas_file(self) -> Path:
        """The atlas of the workspace's own cases."""
        return self.own_cases / "atlas.toml"

    @cached_property
    def atlas(self) -> Atlas:
        """The atlas; empty where the workspace has none."""
        path = self.atlas_file
        return read_atlas(self.read_text(path), path.name) if path.is_file() else Atlas(())

    @cached_property
    def helpers(self) -> dict[str, bytes]:
        """The files beside the workspace's cases that are none themselves, by name: what any case may import."""
        files = {path.name: path.read_bytes() for path in sorted(self.own_cases.glob("*.py"))}
        return {name: text for name, text in files.items() if metadata_block(text.decode("utf-8", "replace")) is None}

    def atlas_cases(self) -> dict[str, Case]:
        """The cases that the atlas is about: the workspace's own, and no others that a user may have."""
        own = {case.id for case in cases_in(self.own_cases, {})}
        return {case_id: case for case_id, case in self.cases().items() if case_id in own}

    def case_folders(self, extra: Path | None) -> list[Path]:
        """Where cases are looked for: the workspace's, HEADWATER_CASES, `extra` (`--cases-dir`); each once."""
        named = os.environ.get("HEADWATER_CASES")
        own = [Path(part) for part in named.split(os.pathsep)] if named else []
        folders = [self.own_cases, *own, *([extra] if extra else [])]
        return list(dict.fromkeys(folder.resolve() for folder in folders))

    def cases(self, extra: Path | None = None) -> dict[str, Case]:
        """Every case, by id, in the order of the atlas, then by id.

        Raises:
            BadInput: a folder is missing, a case cannot be read, two cases have one id, the atlas names one that is
                not there.
        """
        found: dict[str, Case] = {}
        places: dict[str, Path] = {}
        for folder in self.case_folders(extra):
            for case in cases_in(folder, self.helpers):
                if case.id in found:
                    raise BadInput(f"two cases are called {case.id}: {places[case.id]} and {folder / case.file}")
                found[case.id], places[case.id] = case, folder / case.file
        order = list(dict.fromkeys(entry.case for entry in self.atlas.entries))
        unknown = [case_id for case_id in order if case_id not in found]
        if unknown:
            raise BadInput(f"atlas.toml has entries of {unknown[0]}, and there is no such case")
        rest = sorted(case_id for case_id in found if case_id not in order)
        return {case_id: found[case_id] for case_id in [*order, *rest]}

    @property
    def patches(self) -> Path:
        """The series, a folder each."""
        return self.root / "patches"

    def conformance(self) -> Case | None:
        """The conformance suite as a case; None where the workspace has none.

        Raises:
            BadInput: its folder holds no test.
        """
        folder = self.root / "tests" / "conformance"
        if not folder.is_dir():
            return None
        files = {path.name: path.read_bytes() for path in sorted(folder.glob("*.py"))}
        if not any(name.startswith("test_") for name in files):
            raise BadInput(f"{folder.relative_to(self.root)} holds no test_*.py; remove it, or restore the suite")
        return packaged_case("conformance.py", files)

    def known_failures(self) -> tuple[KnownFailure, ...] | None:
        """Which case a failing conformance test belongs to; None where the workspace has no such table.

        Raises:
            BadInput: it cannot be read, or names a case that is not there.
        """
        path = self.root / "tests" / "conformance" / "failures.toml"
        if not path.is_file():
            return None
        return read_known_failures(self.read_text(path), f"conformance/{path.name}", self.atlas_cases())

    def series(self, name: str) -> Series:
        """Read a series and its patches.

        Raises:
            BadInput: there is none of that name, or a file of it is missing or cannot be read.
        """
        names = series_names(self.patches)
        if name not in names:
            raise no_such("series", name, names)
        return read_series_folder(self.patches / name, self.pins.versions)


def packaged_case(file: str, tests: Mapping[str, bytes]) -> Case:
    """One of the cases that Headwater brings itself, with the files beside it whose tests it runs."""
    siblings = {path.name: path.read_bytes() for path in PACKAGED_CASES.glob("*.py")}
    case = read_case(file, siblings[file].decode(), siblings)
    taken = sorted(case.files.keys() & tests.keys())
    if taken:
        raise BadInput(f"a test file is called {taken[0]}, as one that Headwater puts beside it; rename it")
    return replace(case, files={**case.files, **tests})


def cases_in(folder: Path, helpers: Mapping[str, bytes]) -> list[Case]:
    """The cases of a folder; of `helpers`, the workspace's, they use those that they have not beside them.

    Raises:
        BadInput: there is no such folder, or a case in it cannot be read.
    """
    if not folder.is_dir():
        raise BadInput(f"the cases' folder {folder} is not there")
    own = {path.name: path.read_bytes() for path in sorted(folder.glob("*.py"))}
    cases = []
    for name, content in own.items():
        try:
            source = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{folder / name}: not UTF-8 at byte {error.start}") from error
        if metadata_block(source) is not None:
            cases.append(read_case(name, source, {**helpers, **own}))
    return cases
