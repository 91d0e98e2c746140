# SPDX-License-Identifier: Apache-2.0
"""How options are put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def together(options: Sequence[Decorator]) -> Decorator:
    """One decorator of several; the help shows their options in this order."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return add
