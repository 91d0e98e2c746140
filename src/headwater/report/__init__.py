# SPDX-License-Identifier: Apache-2.0
"""The only layer that prints: progress, tables, JSON."""
