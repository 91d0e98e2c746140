# SPDX-License-Identifier: Apache-2.0
"""Where torch comes from: a fitting wheel on this machine, else the index; never gigabytes unasked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.core.errors import EnvironmentUnavailable
from headwater.effects import torch_source
from headwater.effects.index import Index
from headwater.effects.torch_source import ALLOW, LARGE, TorchSource, find_torch

if TYPE_CHECKING:
    from index_server import IndexServer

HERE = f"cp{sys.version_info.major}{sys.version_info.minor}"
needs_no_gpu = pytest.mark.skipif(torch_source.has_gpu_driver(), reason="this machine has a GPU, so any torch will do")


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that UV_FIND_LINKS names."""
    folder = tmp_path / "links"
    folder.mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", f"{tmp_path / 'missing'}, {folder}")
    return folder


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(b"")


@pytest.mark.parametrize(
    ("names", "version"),
    [
        (["torch-2.9.1-py3-none-any.whl"], "2.9.1"),
        (["torch-2.9.1+cpu-py3-none-any.whl"], "2.9.1+cpu"),
        (["torch-2.9.1+cpu-{here}-none-any.whl", "torch-2.9.1-py3-none-any.whl"], "2.9.1+cpu"),
        (["torch-2.9.1-{here}-none-any.whl", "torch-2.9.1+cpu-py3-none-any.whl"], "2.9.1"),
        (["torch-2.9.10-py3-none-any.whl", "torch-2.9.1-py3-none-any.whl", "torch-x.whl"], "2.9.1"),
        (["torch-2.9.1-1-py3-none-any.whl"], "2.9.1"),
    ],
)
def test_the_best_fitting_wheel_on_this_machine(
    index_server: IndexServer, index: Index, links: Path, names: list[str], version: str
) -> None:
    put(links, *[name.format(here=HERE) for name in names])
    assert find_torch("2.9.1", index) == TorchSource(version, (f"torch=={version}",))
    assert index_server.requests == []


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_pips_variable_will_do(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    put(tmp_path, "torch-2.9.1+cpu-py3-none-any.whl")
    monkeypatch.setenv("PIP_FIND_LINKS", form.format(tmp_path))
    assert find_torch("2.9.1", index).version == "2.9.1+cpu"


@pytest.mark.parametrize(
    "name",
    [
        "torch-2.9.0-py3-none-any.whl",
        "torch-2.9.1-cp27-none-any.whl",
        "torch-2.9.1-py3-none-plan9_mips.whl",
        "torch.whl",
    ],
)
def test_wheels_that_do_not_fit_are_no_answer(index: Index, links: Path, name: str) -> None:
    put(links, name)
    with pytest.raises(
        EnvironmentUnavailable, match=r"torch 2\.9\.1 for this Python is neither among the wheels of UV_"
    ):
        find_torch("2.9.1", index, offline=True)


@pytest.mark.parametrize("torch_size", [50, 100_000_000])
def test_a_small_torch_in_the_index_is_taken(index_server: IndexServer, index: Index, torch_size: int) -> None:
    index_server.add("torch", "2.9.1", size=torch_size)
    assert find_torch("2.9.1", index) == TorchSource("2.9.1", ("torch==2.9.1",))


def add_large_torch(index_server: IndexServer) -> None:
    """A torch of 0.6 GB with a library of 0.7 GB: neither alone is too large."""
    index_server.add("torch", "2.9.1", requires=["nvidia-blas==12.4", "numpy"], size=600_000_000)
    index_server.add("nvidia-blas", "12.4", {"nvidia_blas/__init__.py": b""}, size=700_000_000)
    index_server.add("numpy", "2.0", size=5 * LARGE)


@needs_no_gpu
def test_a_large_torch_is_not_taken_unasked(index_server: IndexServer, index: Index) -> None:
    add_large_torch(index_server)
    with pytest.raises(EnvironmentUnavailable, match=rf"1\.3 GB to download.*no GPU.*UV_FIND_LINKS.*{ALLOW}=1"):
        find_torch("2.9.1", index)
    assert not any(path.endswith(".whl") for path in index_server.requests)


def test_a_large_torch_is_taken_when_asked(
    index_server: IndexServer, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_large_torch(index_server)
    monkeypatch.setenv(ALLOW, "1")
    assert find_torch("2.9.1", index) == TorchSource("2.9.1", ("torch==2.9.1",))


def test_credentials_of_the_index_do_not_show(
    index_server: IndexServer, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_server.credentials = "user:right"
    monkeypatch.setenv("PIP_INDEX_URL", index_server.url("user:hunter2"))
    with pytest.raises(EnvironmentUnavailable) as caught:
        find_torch("2.9.1", index)
    assert "127.0.0.1" in str(caught.value)
    assert "hunter2" not in str(caught.value)
