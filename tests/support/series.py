# SPDX-License-Identifier: Apache-2.0
"""Applying a series between two commits of a test's own repository."""

from __future__ import annotations

from collections.abc import Collection

from headwater.effects.carrying import Applied, carrying
from headwater.effects.git import GitDir
from headwater.effects.series_folder import Series
from headwater.effects.workspace import Cache


def apply_series(
    cache: Cache, git: GitDir, series: Series, base: str, target: str, drop: Collection[str] = ()
) -> Applied:
    """Carry `series`, written against the commit `base`, to the commit `target`, without the patches `drop`."""
    package = git("ls-tree", "--name-only", f"{base}:src").splitlines()[0]
    with carrying(cache, git, lambda _release: base, package) as carrier:
        return carrier.apply(carrier.stack(series, None), target, drop)
