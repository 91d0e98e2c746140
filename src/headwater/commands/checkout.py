# SPDX-License-Identifier: Apache-2.0
"""`headwater checkout`: a git work tree of a release for a person to read and edit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headwater.commands.context import Context
from headwater.effects.checkouts import lay_out_checkout


@dataclass(frozen=True)
class CheckoutReport:
    """Where the checkout lies, and whether it was there already and so was left as it is."""

    path: Path
    commit: str | None
    existed: bool


def checkout(context: Context, revision: str, series: str | None) -> CheckoutReport:
    """Lay out `upstream/checkouts/REVISION`, with the patches of a series as commits on top.

    Raises:
        BadInput: no such release or series, or something else lies at that place.
    """
    pin = context.workspace.pins.find(revision)
    commit, name = context.mirror.ensure(pin), str(pin.version)
    if series is not None:
        commit = context.subjects.patched(context.subjects.release(pin), context.workspace.series(series)).commit
        name = f"{name}+{series}"
    target = context.workspace.checkouts / name
    existed = lay_out_checkout(context.mirror.git, context.cache, target, commit)
    return CheckoutReport(target, None if existed else commit, existed)
