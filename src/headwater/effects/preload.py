# SPDX-License-Identifier: Apache-2.0
"""What the server of an environment imports ahead of probes: a file beside the environment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.effects.child_process import CHILD_VERSION
from headwater.effects.files import write_atomically


@dataclass(frozen=True)
class Preload:
    """The file, which may not be there yet."""

    path: Path

    def read(self) -> list[str]:
        """The names of the modules, in the order in which they are to be imported; none where they cannot be read, or
        are those of another version of the child, which may import others."""
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
            return list(known["modules"]) if known["child"] == CHILD_VERSION else []
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def write(self, modules: Sequence[str]) -> None:
        """Write the names of the modules."""
        write_atomically(self.path, json.dumps({"child": CHILD_VERSION, "modules": list(modules)}))

    def forget(self) -> None:
        """The server cannot import them."""
        self.path.unlink(missing_ok=True)
