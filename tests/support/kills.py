# SPDX-License-Identifier: Apache-2.0
"""How often tests kill; HEADWATER_KILLS scales it, and 20 is for a machine that has a night."""

from __future__ import annotations

import os

KILLS = int(os.environ.get("HEADWATER_KILLS", "2"))
