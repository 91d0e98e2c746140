# SPDX-License-Identifier: Apache-2.0
"""How many examples a property is tried on that does not go by the profile alone."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int) -> settings:
    """`count` examples where properties are tried on all of theirs, and the same share as of others elsewhere."""
    return settings(max_examples=count * settings().max_examples // 100)
