# SPDX-License-Identifier: Apache-2.0
"""`headwater reduce` and `headwater backport`: from two revisions to the hunk, and from the hunk to a series."""
