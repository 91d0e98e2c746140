# SPDX-License-Identifier: Apache-2.0
"""What the index lists: final releases, their requirements, sizes; and lists that cannot be used."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from headwater.core.errors import HarnessError
from headwater.core.pins import IndexFile
from headwater.effects.index import Index

if TYPE_CHECKING:
    from index_server import IndexServer


def test_only_final_releases_with_a_pure_wheel_in_version_order(index_server: IndexServer, index: Index) -> None:
    for version in ("5.10.0", "5.9.0", "5.10.1rc1", "5.11.0.dev0"):
        index_server.add("transformers", version)
    index_server.add_file("transformers", "transformers-5.12.0-cp311-cp311-linux_x86_64.whl", b"binary")
    index_server.add_file("transformers", "transformers-5.13.0.tar.gz", b"source only")
    index_server.add_file("transformers", "transformers-of-old-1.exe", b"installer")
    index_server.add_file("transformers", "transformers-one.two.tar.gz", b"no version")
    assert [str(release.version) for release in index.releases("transformers")] == ["5.9.0", "5.10.0"]


def test_what_is_said_of_a_release(index_server: IndexServer, index: Index) -> None:
    wheel = index_server.add("transformers", "5.10.0", yanked="broken\n  wheel", requires_python=">=3.10.0")
    source = index_server.add_file("transformers", "transformers-5.10.0.tar.gz", b"source")
    index_server.add("transformers", "5.10.1", yanked=True, requires_python=None)
    first, second = index.releases("transformers")
    assert first.version == Version("5.10.0")
    assert first.uploaded.isoformat() == "2026-05-01T10:00:00+00:00"
    assert (first.requires_python, first.yanked) == (">=3.10.0", "broken wheel")
    assert (first.wheel, first.sdist) == (wheel, source)
    assert (second.requires_python, second.yanked, second.sdist) == ("", "no reason given", None)


def test_requirements_come_from_the_file_beside_the_wheel(
    index_server: IndexServer, index: Index, tmp_path: Path
) -> None:
    wanted = ["numpy>=1.17", "tokenizers<=0.23,>=0.22", 'torch>=2.4; extra == "torch"']
    file = index_server.add("transformers", "5.0.0", requires=wanted)
    assert index.requirements("transformers", file, tmp_path / "wheels") == wanted
    assert index_server.fetched(file.file) == 0
    assert not (tmp_path / "wheels").exists()


@pytest.mark.parametrize("claimed", [False, True])
def test_requirements_of_a_wheel_without_such_a_file_come_from_the_wheel(
    index_server: IndexServer, index: Index, tmp_path: Path, claimed: bool
) -> None:
    file = index_server.add("transformers", "5.0.0", requires=["numpy"], metadata_beside=False)
    index_server.files[file.file].entry["core-metadata"] = claimed
    assert index.requirements("transformers", file, tmp_path / "wheels") == ["numpy"]
    assert index_server.fetched(file.file) == 1


def test_metadata_without_a_digest_is_taken(index_server: IndexServer, index: Index, tmp_path: Path) -> None:
    file = index_server.add("transformers", "5.0.0", requires=["numpy"], core_metadata=True)
    assert index.requirements("transformers", file, tmp_path) == ["numpy"]


def test_metadata_with_another_digest_is_refused(index_server: IndexServer, index: Index, tmp_path: Path) -> None:
    digest = {"sha256": hashlib.sha256(b"other").hexdigest()}
    file = index_server.add("transformers", "5.0.0", requires=["numpy"], core_metadata=digest)
    with pytest.raises(HarnessError, match=file.file):
        index.requirements("transformers", file, tmp_path)


def test_sizes_and_any_wheel(index_server: IndexServer, index: Index) -> None:
    small = index_server.add_file("torch", "torch-2.9.1+cpu-cp311-cp311-manylinux_2_28_x86_64.whl", b"small")
    large = index_server.add_file(
        "torch", "torch-2.9.1-cp311-cp311-manylinux_2_28_x86_64.whl", b"a larger one", size=9**9
    )
    index_server.add_file("torch", "torch-2.9.0-cp311-cp311-win_amd64.whl", b"another version", size=10**10)
    index_server.add_file("torch", "torch-nightly-cp311-cp311-win_amd64.whl", b"no version")
    assert index.size_of("torch", "2.9.1") == 9**9
    assert index.size_of("torch", "2.9.1+cpu") == small.size
    assert index.size_of("torch", "1.0") is None
    assert index.any_wheel("torch", "2.9.1") == IndexFile(large.file, large.sha256, 9**9)
    with pytest.raises(HarnessError, match=r"lists no wheel of torch 3\.0"):
        index.any_wheel("torch", "3.0")


def test_a_list_is_fetched_once(index_server: IndexServer, index: Index, tmp_path: Path) -> None:
    file = index_server.add("transformers", "5.0.0")
    index.releases("transformers")
    index.size_of("transformers", "5.0.0")
    index.download("transformers", file, tmp_path)
    assert index_server.requests.count("/simple/transformers/") == 1


def test_an_unknown_package_is_named_at_once(index_server: IndexServer, index: Index) -> None:
    with pytest.raises(HarnessError, match=r"127\.0\.0\.1.* does not know transformers"):
        index.releases("transformers")
    assert len(index_server.requests) == 1


@pytest.mark.parametrize(("missing", "what"), [("upload-time", "upload time"), ("size", "size"), ("hashes", "sha256")])
def test_an_index_that_says_too_little_is_refused(
    index_server: IndexServer, index: Index, missing: str, what: str
) -> None:
    file = index_server.add("transformers", "5.0.0")
    index_server.files[file.file].entry[missing] = {} if missing == "hashes" else None
    with pytest.raises(HarnessError, match=f"gives no .*{what}.* for {file.file}"):
        index.releases("transformers")


@pytest.mark.parametrize(
    ("form", "page"),
    [
        ("text/html", b"<html><body><a href='../../x.whl'>transformers-5.0.0-py3-none-any.whl</a></body></html>"),
        ("text/plain", b"Please log in to the hotel's network."),
        ("application/vnd.pypi.simple.v1+json", b"{"),
        ("application/vnd.pypi.simple.v1+json", b'{"meta": {"api-version": "1.1"}}'),
        ("application/vnd.pypi.simple.v1+json", b'{"meta": {"api-version": "7.0"}, "name": "x", "files": []}'),
    ],
    ids=["the HTML form", "not an index", "broken JSON", "half a page", "a later API"],
)
def test_an_answer_that_is_no_list_is_a_clear_error(
    index_server: IndexServer, index: Index, form: str, page: bytes
) -> None:
    index_server.form, index_server.page = form, page
    with pytest.raises(HarnessError):
        index.releases("transformers")


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"])
@pytest.mark.parametrize("slash", ["/", ""])
def test_the_index_is_the_one_that_the_machine_names(
    index_server: IndexServer, monkeypatch: pytest.MonkeyPatch, name: str, slash: str
) -> None:
    index_server.add("transformers", "5.0.0")
    monkeypatch.setenv(name, index_server.url().rstrip("/") + slash)
    assert len(Index(pause=0.01).releases("transformers")) == 1
