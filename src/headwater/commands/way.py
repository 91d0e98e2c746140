# SPDX-License-Identifier: Apache-2.0
"""How a command runs what it has to probe."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Way:
    """How a command runs what it has to: `jobs` probes at a time on this machine, or on the workers of the Dask
    scheduler at an address."""

    executor: Literal["local", "dask"]
    scheduler: str | None
    jobs: int
