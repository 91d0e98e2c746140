#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many mistakes in the library's caches the conformance suite notices: tests/mutants, in an environment of its own.

python scripts/mutants.py [--release 5.24.0] [--count 40] [--seed 46439] [--list]
"""

import sys

# This folder holds a bisect.py, and the standard library has one too: it must not be found here.
if not sys.flags.safe_path:
    del sys.path[0]

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from headwater.bootstrap import enter_workspace

enter_workspace(ROOT, "dev")

sys.path.insert(0, str(ROOT / "tests" / "mutants"))

from mutants import main

sys.exit(main())
