# SPDX-License-Identifier: Apache-2.0
"""`python -m headwater`."""

import sys

from headwater.cli import main

sys.exit(main())
