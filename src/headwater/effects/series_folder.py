# SPDX-License-Identifier: Apache-2.0
"""Series as they lie in `patches/`: a folder with a `series` file, patches, and a folder a variant."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.mail import Patch, read_patch
from headwater.core.series import Range, SeriesFile, check_variants, read_series
from headwater.effects.git import GitDir, GitFailed

SERIES = "series"
PATCH = ".patch"
# A folder in that of a series with what a run has decided to write there, and in it a list of what goes.
DECIDED, GONE = ".decided", ".gone"


@dataclass(frozen=True)
class Variant:
    """The patches that read otherwise on some releases; the others are those of the series."""

    name: str
    file: SeriesFile
    patches: tuple[Patch, ...]


@dataclass(frozen=True)
class Series:
    """A series: its own patches in order, and its variants by folder."""

    name: str
    folder: Path
    file: SeriesFile
    patches: tuple[Patch, ...]
    variants: dict[str, Variant] = field(default_factory=dict)

    @property
    def bases(self) -> set[Version]:
        """The releases that its patches, or those of a variant, are written against: there every patch is needed."""
        return {self.file.base, *(variant.file.base for variant in self.variants.values())}

    def names(self, case: str) -> bool:
        """Whether a patch says that it mends a case."""
        return any(case in patch.cases for patch in self.patches)

    def variant_for(self, release: Version | None) -> Variant | None:
        """The variant that serves a release; None where the default does, or where it is none of the index."""
        entry = self.range_for(release)
        return self.variants[entry.folder] if entry else None

    def range_for(self, release: Version | None) -> Range | None:
        """The range that names a release."""
        return self.file.serving(release) if release is not None else None

    def file_of(self, patch: str, variant: Variant | None) -> Path:
        """The file that a patch is read from."""
        inside = variant is not None and patch in variant.file.patches
        return self.folder / variant.name / patch if variant and inside else self.folder / patch


def series_names(patches: Path) -> list[str]:
    """The series that there are, by name."""
    return sorted(path.parent.name for path in patches.glob(f"*/{SERIES}"))


def end_writing(folder: Path) -> None:
    """Write what a run has decided to, and may have been killed before it was done. Two may do so at once."""
    decided = folder / DECIDED
    if not decided.is_dir():
        return
    with suppress(FileNotFoundError):
        for name in (decided / GONE).read_text(encoding="utf-8").splitlines():
            (folder / name).unlink(missing_ok=True)
    for path in sorted(path for path in decided.rglob("*") if path.is_file() and path.name != GONE):
        target = folder / path.relative_to(decided)
        target.parent.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            path.replace(target)
    shutil.rmtree(decided, ignore_errors=True)


def read_series_folder(folder: Path, releases: Sequence[Version]) -> Series:
    """Read a series with its variants, and check it as a whole.

    Raises:
        BadInput: a file is missing, cannot be read, or is named by no `series` file; or as `check_variants`.
    """
    end_writing(folder)
    file, patches = _read_one(folder, f"patches/{folder.name}", variant=False)
    folders = {entry.folder for entry in file.ranges}
    folders |= {path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))}
    variants = {}
    for name in sorted(folders):
        if not (folder / name / SERIES).is_file():
            raise BadInput(f"patches/{folder.name}/{name}/series is missing: a variant names its base and its patches")
        variants[name] = Variant(name, *_read_one(folder / name, f"patches/{folder.name}/{name}", variant=True))
    origin = f"patches/{folder.name}/series"
    check_variants(file, {name: variant.file for name, variant in variants.items()}, releases, origin)
    return Series(folder.name, folder, file, patches, variants)


def write_series_at(git: GitDir, revision: str, path: str, into: Path) -> bool:
    """Write the folder `path` as a revision of a repository has it to `into`; False where it has none."""
    try:
        listed = git("ls-tree", "-r", "-z", "--name-only", f"{revision}:{path}")
    except GitFailed:
        return False
    for name in filter(None, listed.split("\0")):
        file = into / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(git.raw("cat-file", "blob", f"{revision}:{path}/{name}"))
    return True


def _read_one(folder: Path, label: str, variant: bool) -> tuple[SeriesFile, tuple[Patch, ...]]:
    content = (folder / SERIES).read_bytes()
    try:
        file = read_series(content.decode("utf-8"), f"{label}/series", variant)
    except UnicodeDecodeError as error:
        raise BadInput(f"{label}/series: not UTF-8 at byte {error.start}") from error
    for name in file.patches:
        if not (folder / name).is_file():
            raise BadInput(f"{label}/series lists {name}, and there is no such file beside it")
    for path in sorted(folder.glob(f"*{PATCH}")):
        if path.name not in file.patches:
            raise BadInput(f"{label}/{path.name} is listed in no `series` file; add it to {label}/series, or remove it")
    return file, tuple(read_patch(name, (folder / name).read_bytes()) for name in file.patches)
