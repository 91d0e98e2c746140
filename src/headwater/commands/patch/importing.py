# SPDX-License-Identifier: Apache-2.0
"""`headwater patch import`: what `git format-patch` or a mail program wrote becomes patches of a series."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headwater.commands.context import Context
from headwater.core.errors import BadInput
from headwater.core.mail import Patch
from headwater.core.patch_results import Imported
from headwater.core.series import is_patch_name, require_name
from headwater.core.series_text import file_name, new_series, next_number, with_patch
from headwater.effects.carrying import Carrier
from headwater.effects.mailbox import read_mails
from headwater.effects.patch_text import patch_text
from headwater.effects.series_folder import SERIES, series_names
from headwater.effects.series_writing import write_new_series, write_together


def import_patches(context: Context, name: str, sources: Sequence[Path], base: str | None) -> Imported:
    """Append patches to a series, or begin one against the release `base`. All are taken, or none.

    Raises:
        BadInput: files that are no patches, a series that is there with another base, or none and no base.
        PatchFailed: a patch does not apply on top of those before it, every hunk at its line.
    """
    return context.mirror.mending(_import, context, name, sources, base)


def _import(context: Context, name: str, sources: Sequence[Path], base: str | None) -> Imported:
    workspace = context.workspace
    series = workspace.series(name) if name in series_names(workspace.patches) else None
    if series is None and base is None:
        raise BadInput(f"there is no series {name!r}; --base RELEASE begins one against that release")
    require_name(name, "a series' name")
    pin = workspace.pins.find(base or str(series.file.base if series else base))
    if series is not None and pin.version != series.file.base:
        raise BadInput(f"series {name} is written against {series.file.base}, not {base}; leave --base out")
    commit = context.mirror.ensure(pin)
    context.mirror.prepare()
    with context.cache.building("mails") as folder, context.subjects.carrier() as carrier:
        mails = read_mails(context.mirror.git, sources, folder)
        top = carrier.stack(series, series.file.base).steps[-1].after if series else commit
        texts = _texts(
            context, carrier, name, mails, top, str(pin.version), next_number(series.file.patches if series else ())
        )
    if series is None:
        text = new_series(str(pin.version), context.mirror.library_tree(commit), tuple(texts))
        write_new_series(workspace.patches / name, {**texts, SERIES: text.encode("utf-8")})
    else:
        text = workspace.read_text(series.folder / SERIES)
        for file in texts:
            text = with_patch(text, file)
        write_together(series.folder, {**texts, SERIES: text.encode("utf-8")})
    return Imported(name, series is None, tuple(texts))


def _texts(
    context: Context, carrier: Carrier, name: str, mails: list[Patch], top: str, base: str, first: int
) -> dict[str, bytes]:
    names = [file_name(number, mail.subject) for number, mail in enumerate(mails, first)]
    own = [mail.file for mail in mails]
    # A series that begins keeps the names that its patches came with, where these are patches' names, one a file.
    if first == 1 and len(set(own)) == len(own) and all(is_patch_name(word) for word in own):
        names = own
    texts: dict[str, bytes] = {}
    for file, mail in zip(names, mails, strict=True):
        top = carrier.add(mail, top, name, base)
        texts[file] = patch_text(context.mirror.git, top)
    return texts
