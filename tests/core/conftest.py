# SPDX-License-Identifier: Apache-2.0
"""The real releases, as the package index has them: the yanked 4.57.0 and 5.10.0 are there, 5.10.3 is not."""

from __future__ import annotations

import pytest
from packaging.version import Version

RELEASES = (
    "4.56.0 4.56.1 4.56.2 4.57.0 4.57.1 4.57.2 4.57.3 4.57.4 4.57.5 4.57.6 "
    "5.0.0 5.1.0 5.2.0 5.3.0 5.4.0 5.5.0 5.5.1 5.5.2 5.5.3 5.5.4 5.6.0 5.6.1 5.6.2 5.7.0 5.8.0 5.8.1 5.9.0 "
    "5.10.0 5.10.1 5.10.2 5.10.4 5.11.0 5.12.0 5.12.1 5.13.0 5.13.1 5.14.0 5.14.1 5.15.0 5.15.1 "
    "5.16.0 5.16.1 5.17.0 5.18.0 5.19.0 5.20.0 5.20.1 5.20.2 5.21.0 5.21.1 5.22.0 5.22.1 5.22.2 5.23.0 5.24.0"
)


@pytest.fixture(params=["in order", "shuffled"])
def known(request: pytest.FixtureRequest) -> tuple[Version, ...]:
    """Every release; nothing may depend on the order in which they are given."""
    versions = tuple(Version(text) for text in RELEASES.split())
    # 5.10.4 was published after 5.12.0, so an order by date is no order by version.
    return versions if request.param == "in order" else versions[::-1][20:] + versions[::-1][:20]
