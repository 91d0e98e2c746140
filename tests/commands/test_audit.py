# SPDX-License-Identifier: Apache-2.0
"""`headwater audit`: it agrees with the atlas, and finds what the user's own environment has."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uv
from filelock import FileLock
from packaging.version import Version

from headwater.core.atlas import Atlas, read_atlas
from headwater.core.atlas_text import cases_of
from headwater.core.mail import read_patch
from headwater.core.verdicts import Verdict

Run = Callable[..., Any]
SERIES = "hybrid-static-cache"
NO_NETWORK = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment of whoever runs the tests counts."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "HEADWATER_STARTED_BY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """A PATH with git and without any Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(shutil.which("git") or "git")
    return str(folder)


@pytest.fixture
def atlas(root: Path) -> Atlas:
    """The atlas of this repository."""
    return read_atlas((root / "tests" / "repro" / "atlas.toml").read_text(encoding="utf-8"), "atlas.toml")


def library(folder: Path, version: str, origin: object = None) -> Path:
    """An environment with the metadata of a library."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    info = next(folder.glob("lib/python*/site-packages")) / f"transformers-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: transformers\nVersion: {version}\n", encoding="utf-8")
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
    return folder


@pytest.mark.parametrize("release", ["4.57.6", "5.0.0", "5.4.0", "5.5.0", "5.10.1", "5.12.1", "5.13.0", "5.24.0"])
def test_it_agrees_with_the_atlas(headwater: Run, atlas: Atlas, tmp_path: Path, release: str) -> None:
    """Without environments, network and probes."""
    done = headwater("audit", release, "--json", environ={**NO_NETWORK, "HEADWATER_CACHE": str(tmp_path / "none")})
    cases = {entry.case for entry in atlas.entries}
    bad = {case for case in cases if atlas.expected(case, Version(release)) is Verdict.BAD}
    clear = {case for case in cases if atlas.expected(case, Version(release)) in (Verdict.GOOD, Verdict.ABSENT)}
    assert {bug["case"] for bug in done.json["bugs"]} == bad
    assert done.json["clear"] == len(clear)
    assert done.status == (0 if clear == cases else 1)
    assert not (tmp_path / "none").exists()
    for bug in done.json["bugs"]:
        assert atlas.expected(bug["case"], Version(bug["since"])) is Verdict.BAD
        without = bug["without"] and atlas.expected(bug["case"], Version(bug["without"]))
        assert without in (None, Verdict.GOOD, Verdict.ABSENT)


def test_what_a_person_sees(headwater: Run) -> None:
    done = headwater("audit", "5.5.0")
    assert done.status == 1
    assert "known bugs in transformers 5.5.0\n" in done.out
    [row] = [line for line in done.out.splitlines() if line.startswith("early-init ")]
    assert row.split() == ["early-init", "crash", "5.5.0", "5.13.0", "hybrid-static-cache"]
    assert "  you see: After early_initialization, as in export recipes," in done.out
    assert "  meanwhile: Call lazy_initialization on the attention layers alone" in done.out
    assert "  introduced in 5.5.0 by 2dba8e049597, pull request 44950\n" in done.out
    assert "patches/hybrid-static-cache/plain-integers/0001-early" in done.out
    assert "patches/hybrid-static-cache/0002-is-initialized" in done.out


@pytest.mark.parametrize(("release", "series"), [("5.4.0", []), ("5.5.0", [SERIES]), ("5.12.1", [SERIES])])
def test_what_a_patch_mends_besides_counts_where_it_is_applied(headwater: Run, release: str, series: list[str]) -> None:
    """early-init-again is older than what the patch is for; the series is absent on 5.4.0."""
    found = json.loads(headwater("audit", release, "--json").out)
    [bug] = [one for one in found["bugs"] if one["case"] == "early-init-again"]
    assert [remedy["series"] for remedy in bug["series"]] == series


def test_what_patches_mend_besides_are_cases(root: Path, atlas: Atlas) -> None:
    """No command refuses a name that is none, since a workspace may have a part of the cases."""
    patches = [read_patch(path.name, path.read_bytes()) for path in (root / "patches").rglob("*.patch")]
    named = {case for patch in patches for case in patch.also}
    assert {"early-init-again", "static-max-batch-size-fresh"} <= named <= set(cases_of(atlas))


def test_the_upgrade_that_circulates_is_not_recommended(headwater: Run) -> None:
    """5.10.2, 5.10.4, 5.11.0 and 5.12.0 still have the bug, and 5.10.4 is no step towards 5.13.0."""
    for release in ("5.10.1", "5.10.4", "5.12.0"):
        bugs = {bug["case"]: bug for bug in headwater("audit", release, "--json").json["bugs"]}
        assert (bugs["early-init"]["without"], bugs["early-init"]["without_is_newer"]) == ("5.13.0", True)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["5.10.3"], "the nearest are 5.10.1, 5.10.2, 5.10.4"),
        (["5.99.0"], "there is no pinned release 5.99.0"),
        (["five"], "'five' is not a version"),
        (["5.10.1", "--python", "x"], "not both"),
        (["--python", "no-such-place"], "--python is no-such-place, and there is no Python interpreter"),
    ],
)
def test_bad_input(headwater: Run, words: list[str], named: str) -> None:
    done = headwater("audit", *words)
    assert (done.status, done.out) == (2, "")
    assert named in done.err


def test_nothing_is_installed(headwater: Run, tmp_path: Path) -> None:
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    done = headwater("audit", environ={"VIRTUAL_ENV": str(folder)})
    assert done.status == 2
    assert f"transformers is not installed: looked at {folder}/bin/python (VIRTUAL_ENV)" in done.err


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("5.25.0", "5.25.0 is not among the pinned releases, so nothing is known of it; the nearest releases are"),
        ("5.11.0.dev0", "5.11.0.dev0 is a development version, so nothing is known of it; the nearest releases are"),
        ("4.40.0", "4.40.0 is not among the pinned releases"),
    ],
)
def test_a_version_that_the_atlas_does_not_know_has_not_passed(
    headwater: Run, tmp_path: Path, version: str, words: str
) -> None:
    done = headwater("audit", environ={"VIRTUAL_ENV": str(library(tmp_path / "venv", version))})
    assert done.status == 1
    assert f"Nothing is known of transformers {version} (" in done.out
    assert words in done.out


def test_what_was_installed_from_a_commit_is_told_and_has_not_passed(headwater: Run, tmp_path: Path) -> None:
    origin = {"url": "https://somewhere/t.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    folder = library(tmp_path / "venv", "5.24.0", origin)
    done = headwater("audit", environ={"VIRTUAL_ENV": str(folder)})
    assert done.status == 1
    assert "It was installed from commit abc of https://somewhere/t.git, and may differ from the release" in done.out


def test_a_release_that_was_pinned_and_not_measured_has_not_passed(headwater: Run, workspace: Path) -> None:
    atlas = workspace / "tests" / "repro" / "atlas.toml"
    text = atlas.read_text(encoding="utf-8").replace('"5.10.4", ', "")
    atlas.write_text(text, encoding="utf-8")
    done = headwater("audit", "5.10.4", cwd=workspace)
    assert done.status == 1
    assert "Not measured on 5.10.4, and so not passed: early-init, " in done.out


@pytest.fixture(scope="session")
def user_environment(test_cache: Path) -> Path:
    """A user's environment with the real transformers 5.10.2; made once, and kept between runs."""
    folder = test_cache / "user-5.10.2"
    test_cache.mkdir(parents=True, exist_ok=True)
    with FileLock(test_cache / "user-5.10.2.lock"):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            # The machine's own settings say which index; uv takes pip's in words of its own.
            environ = {"UV_CACHE_DIR": str(test_cache / "uv")}
            if "PIP_INDEX_URL" in os.environ:
                environ["UV_DEFAULT_INDEX"] = os.environ["PIP_INDEX_URL"]
            install = ["pip", "install", "--no-deps", "--python", str(folder), "transformers==5.10.2"]
            for words in (["venv", "--python", sys.executable, str(folder)], install):
                subprocess.run([uv.find_uv_bin(), "--quiet", *words], check=True, env={**os.environ, **environ})
            (folder / "complete").touch()
    return folder


@pytest.mark.releases
def test_the_bare_command_finds_what_the_user_has(headwater: Run, user_environment: Path, bare_path: str) -> None:
    """Its dependencies are missing, so that an import would fail."""
    activated = {"VIRTUAL_ENV": str(user_environment), "PATH": bare_path}
    for environ in (activated, {"PATH": f"{bare_path}{os.pathsep}{user_environment}/bin"}):
        done = headwater("audit", "--json", "--offline", environ={**NO_NETWORK, **environ})
        assert done.status == 1
        assert (done.json["package"], done.json["version"], done.json["release"]) == (
            "transformers",
            "5.10.2",
            "5.10.2",
        )
        assert "early-init" in {bug["case"] for bug in done.json["bugs"]}
        assert Path(done.json["installed"]["place"]).is_relative_to(user_environment)
    said = headwater("audit", "--python", user_environment).out
    assert "known bugs in transformers 5.10.2 (" in said
