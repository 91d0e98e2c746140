#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Headwater costs, as ratios within one run: tests/bench, in an environment of its own.

python scripts/bench.py [--quick] [--only process|fork|first|import|status|hunt|matrix|reduce]
Without either it takes some minutes and writes docs/performance.md. Needs hyperfine and git.
"""

import sys

# This folder holds a bisect.py, and the standard library has one too: it must not be found here.
if not sys.flags.safe_path:
    del sys.path[0]

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from headwater.bootstrap import enter_workspace

if sys.argv[1:] in (["-h"], ["--help"]):
    print(__doc__)
    sys.exit(0)

enter_workspace(ROOT, "dev")

import runpy

runpy.run_path(str(ROOT / "tests" / "bench"), run_name="__main__")
