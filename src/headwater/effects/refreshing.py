# SPDX-License-Identifier: Apache-2.0
"""Patches made anew from the commits of a work tree, and an edit folded into one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headwater.core.errors import BadInput, PatchFailed
from headwater.core.mail import Patch, read_patch, same_but_ids, with_diff_of
from headwater.effects.merging import Bench, PatchStep
from headwater.effects.patch_text import patch_text
from headwater.effects.series_folder import Series

# What of a commit stands in a patch file beside the diff.
_HEAD = "--format=%an%x00%ae%x00%ad%x00%B"


@dataclass(frozen=True)
class Layer:
    """A patch in a work tree: the commit that was made of its file, and the commit that stands for it now."""

    patch: Patch
    made: str
    now: str


def fold(bench: Bench, layers: Sequence[Layer], place: int, edited: str) -> list[str]:
    """The layers' commits when the edit that leads from the topmost to the tree `edited` belongs to the layer number
    `place`: the edit is carried down there by a three-way merge, and the layers above are carried onto that.

    Raises:
        PatchFailed: a merge conflicts, or does not lead to the edited tree again.
    """
    top = layers[-1].now
    commits = [layer.now for layer in layers]
    if place == len(layers) - 1:
        commits[-1] = recommit(bench, top, edited, f"{top}^")
        return commits
    edit = bench.git("commit-tree", "-m", "edit", "-p", top, edited)
    below = layers[place]
    tree = _merged(
        bench, PatchStep(below.patch, top, edit), below.now, f"the edit cannot be made in {below.patch.file}"
    )
    commits[place] = recommit(bench, below.now, tree, f"{below.now}^")
    for number in range(place + 1, len(layers)):
        layer, onto = layers[number], commits[number - 1]
        step = PatchStep(layer.patch, layers[number - 1].now, layer.now)
        tree = _merged(bench, step, onto, f"with the edit in {below.patch.file}, {layer.patch.file} does not apply")
        commits[number] = recommit(bench, layer.now, tree, onto)
    if bench.tree_of(commits[-1]) != edited:
        raise PatchFailed(
            f"with the edit in {below.patch.file} the patches above it do not lead to the tree as you edited it; "
            "name a later patch, or begin a new one with `headwater patch new`"
        )
    return commits


def _merged(bench: Bench, step: PatchStep, onto: str, words: str) -> str:
    merged = bench.merge(step, onto)
    if merged.tree is None:
        raise PatchFailed(f"{words}: it {merged.reason}; name a later patch, or begin one with `headwater patch new`")
    return merged.tree


def recommit(bench: Bench, like: str, tree: str, parent: str) -> str:
    """A commit of `tree` with the author, date and message of the commit `like`."""
    words = ("show", "--no-patch", "--encoding=UTF-8", "--date=raw", _HEAD, like)
    name, address, date, message = bench.git(*words).split("\0")
    path = bench.folder / "message"
    path.write_text(message, encoding="utf-8")
    who = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address, "GIT_AUTHOR_DATE": date}
    return bench.git("commit-tree", "-p", parent, "-F", path, tree, environ=who)


def new_text(bench: Bench, layer: Layer, commit: str) -> bytes:
    """The patch file that a layer has as `commit`: the old bytes where nothing changed but the ids of contents, which
    change with every patch below, and the old headers where author and message did not.

    Raises:
        BadInput: the commit changes nothing, or its message cannot stand in a patch file.
    """
    text, before = patch_text(bench.git, commit), patch_text(bench.git, layer.made)
    if same_but_ids(text, before):
        return layer.patch.content
    heads = [bench.git("show", "--no-patch", "--encoding=UTF-8", _HEAD, one) for one in (commit, layer.made)]
    return with_diff_of(layer.patch.content, text) if heads[0] == heads[1] else text


def with_contents(series: Series, variant: str | None, contents: dict[str, bytes]) -> Series:
    """The series with the contents of patch files replaced, in the default or in a variant.

    Raises:
        BadInput: a patch is to be replaced in a variant that does not have it.
    """
    patches = series.variants[variant].patches if variant is not None else series.patches
    known = {patch.file for patch in patches}
    if foreign := [file for file in contents if file not in known]:
        raise BadInput(
            f"{foreign[0]} of series {series.name} is served by the default here, which is written against "
            f"{series.file.base}; refresh it there, and `headwater patch carry {series.name}` carries it on"
        )
    fresh = tuple(read_patch(p.file, contents[p.file]) if p.file in contents else p for p in patches)
    if variant is None:
        return replace(series, patches=fresh)
    return replace(series, variants={**series.variants, variant: replace(series.variants[variant], patches=fresh)})
