# SPDX-License-Identifier: Apache-2.0
"""The five founding cases: enough for tests of what a command does with cases, where all of them would take minutes."""

from __future__ import annotations

MENDED = ("early-init", "is-initialized", "max-cache-len", "max-batch-size")
FOUNDING = (*MENDED, "batch-size")
# As words of a command.
ONLY_FOUNDING = ("--case", ",".join(FOUNDING))
