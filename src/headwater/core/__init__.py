# SPDX-License-Identifier: Apache-2.0
"""What Headwater knows and decides. No input or output happens here: no process, file, print or network."""
