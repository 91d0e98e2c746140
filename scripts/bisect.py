#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The release that introduced a bug: `headwater bisect`, from a bare Python.

python scripts/bisect.py early-init --good 5.4.0 --bad 5.10.1
"""

import sys

# This folder's own name for this file is the standard library's too: it must not be found here.
if not sys.flags.safe_path:
    del sys.path[0]

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

try:
    from headwater.bootstrap import enter_workspace, extra_of
except ModuleNotFoundError:
    sys.exit(f"headwater is not installed for {sys.executable}: python -m pip install headwater")

enter_workspace(ROOT, extra=extra_of(sys.argv[1:]))

from headwater.cli import main

sys.exit(main(["bisect", *sys.argv[1:]]))
