# SPDX-License-Identifier: Apache-2.0
"""Changes that stand beside each other merge; what has no anchor does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.anchored import merge_anchored

BASE = b"class A:\n    one = 1\n    # why\n    two = 2\n"


@pytest.mark.parametrize(
    ("changed", "onto", "wanted"),
    [
        # Beside a line that the other side does not have.
        (b"class A:\n    one = 1\n    new = 0\n    # why\n    two = 2\n", b"class A:\n    one = 1\n    two = 2\n",
         b"class A:\n    one = 1\n    new = 0\n    two = 2\n"),
        # Behind a line that changed, before one that did not.
        (b"class A:\n    one = 1\n    # why\n    new = 0\n    two = 2\n",
         b"class A:\n    one = 1\n    # because\n    two = 2\n",
         b"class A:\n    one = 1\n    # because\n    new = 0\n    two = 2\n"),
        # A line that is replaced has to be there as it was.
        (b"class A:\n    one = 2\n    # why\n    two = 2\n", b"class A:\n    two = 2\n", None),
        (b"class A:\n    one = 2\n    # why\n    two = 2\n", b"class A:\n    one = 1\n    two = 2\n",
         b"class A:\n    one = 2\n    two = 2\n"),
        # Lines that are removed must stand together.
        (b"class A:\n    two = 2\n", b"class A:\n    one = 1\n    other = 1\n    # why\n    two = 2\n", None),
        # Both neighbours are gone.
        (b"class A:\n    one = 1\n    # why\n    new = 0\n    two = 2\n", b"class A:\n    one = 1\n", None),
    ],
)  # fmt: skip
def test_one_anchor_is_enough(changed: bytes, onto: bytes, wanted: bytes | None) -> None:
    assert merge_anchored(BASE, changed, onto) == wanted


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n", b"e\n"]), max_size=12).map(b"".join)


@given(LINES, LINES)
def test_onto_the_base_it_is_the_change(base: bytes, changed: bytes) -> None:
    assert merge_anchored(base, changed, base) == changed


@given(LINES, LINES)
def test_no_change_changes_nothing(base: bytes, onto: bytes) -> None:
    assert merge_anchored(base, base, onto) == onto
