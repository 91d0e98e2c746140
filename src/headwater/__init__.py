# SPDX-License-Identifier: Apache-2.0
"""Headwater: carry fixes upstream to a library that people are pinned to."""

__version__ = "0.1.0"
