# SPDX-License-Identifier: Apache-2.0
"""The command line: words in, exit status out."""

from headwater.cli.main import main

__all__ = ["main"]
