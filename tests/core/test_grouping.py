# SPDX-License-Identifier: Apache-2.0
"""Which requirements share a lock, and which of them a lock leaves open."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from headwater.core.errors import HarnessError
from headwater.core.grouping import (
    locked_versions,
    plain_requirements,
    torch_requirements,
    union,
    unsatisfied,
)

LOCK = """\
# made by uv pip compile
filelock==3.20.0 \\
    --hash=sha256:aa
    # via transformers==5.10.1
Huggingface_Hub[cli]==1.2.3 ; python_version >= "3.9" \\
    --hash=sha256:bb
numpy==2.2.6 ; python_version < "3.11"
numpy==2.3.5;python_version >= "3.11"
tokenizers==0.22.0rc1
"""


def test_plain_requirements() -> None:
    lines = [
        "filelock",
        'numpy>=1.17; python_version > "3"',
        'torch>=2.4; extra == "torch"',
        'x ; extra=="all"',
    ]
    assert [r.name for r in plain_requirements(lines)] == ["filelock", "numpy"]
    assert plain_requirements([]) == []


def test_no_requirement() -> None:
    with pytest.raises(HarnessError, match="'numpy >>= 1'"):
        plain_requirements(["numpy >>= 1"])


def test_torch_without_its_cuda_libraries() -> None:
    lines = [
        "filelock",
        "nvidia-nccl-cu12==2",
        "nvidia_cudnn_cu12",
        "cuda-bindings",
        "triton==3",
        "tritonclient",
        "sympy",
    ]
    assert [r.name for r in torch_requirements(lines)] == ["filelock", "tritonclient", "sympy"]


def test_union() -> None:
    groups = [plain_requirements(["b>=1", "a"]), plain_requirements(["a", "b>=2"]), []]
    assert union(groups) == ["a", "b>=1", "b>=2"]


def test_locked_versions() -> None:
    assert locked_versions(LOCK) == {
        "filelock": Version("3.20.0"),
        "huggingface-hub": Version("1.2.3"),
        "numpy": Version("2.3.5"),
        "tokenizers": Version("0.22.0rc1"),
    }


@pytest.mark.parametrize(
    ("requirement", "open_"),
    [
        ("filelock", False),
        ("FileLock>=3", False),
        ("huggingface.hub<2,>=1", False),
        ("tokenizers>=0.21,<=0.23", False),
        ("filelock>=3.21", True),
        ("regex", True),
        ('regex; python_version < "3"', False),
        ('regex; python_version >= "3"', True),
    ],
)
def test_unsatisfied(requirement: str, open_: bool) -> None:
    wanted = Requirement(requirement)
    assert unsatisfied([wanted], locked_versions(LOCK)) == ([str(wanted)] if open_ else [])
