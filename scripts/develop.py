#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a development tool (a command of the dependency group `dev`) in an environment of its own.

python scripts/develop.py pytest tests/core
"""

import sys

# This folder holds a bisect.py, and the standard library has one too: it must not be found here.
if not sys.flags.safe_path:
    del sys.path[0]

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from headwater.bootstrap import enter_workspace

if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
    print(__doc__)
    sys.exit(0 if len(sys.argv) > 1 else 2)

enter_workspace(ROOT, "dev")

from headwater.bootstrap import run_tool

run_tool(sys.argv[1:])
