# SPDX-License-Identifier: Apache-2.0
"""Every test begins with the same random numbers."""

import pytest
import torch


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(20)
