# SPDX-License-Identifier: Apache-2.0
"""Words that users type, right and wrong: help, exit statuses, errors in words and in JSON. No release is needed."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_release_that_does_not_exist_names_the_nearest(headwater: Run) -> None:
    done = headwater("repro", "5.10.3")
    assert done.status == 2
    assert "5.10.2" in done.err
    assert "5.10.4" in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["repro"], "name a release"),
        (["repro", "five"], "'five'"),
        (["repro", "5.10.1", "--case", "nope"], "early-init"),
        (["repro", "5.10.1", "--device", "tpu"], "'tpu'"),
        (["repro", "5.10.1", "--series", "nope"], "hybrid-static-cache"),
        (["repro", "--tree", "no-such-folder"], "no-such-folder"),
        (["repro", "5.10.1", "--cases-dir", "no-such-folder"], "no-such-folder"),
        (["test-patched", "nope"], "hybrid-static-cache"),
        (["test-patched", "--drop", "9"], "0001-early"),
        (["test-patched", "--releases", ">=6"], "5.24.0"),
        (["bisect", "early-init", "--good", "5.12.0", "--bad", "5.4.0"], "--find fixed"),
        (["checkout", "5.10.3"], "5.10.2"),
        (["reduce", "early-init"], "--from"),
        (["reduce", "early-init", "--from", "5.12.1", "--to", "5.13.9"], "5.13.1"),
        (["reduce", "nope", "--from", "5.12.1", "--to", "5.13.0"], "early-init"),
        (["reduce", "early-init", "--from", "5.12.1", "--to", "5.13.0", "--device", "tpu"], "'tpu'"),
        (["reduce", "early-init", "--from", "5.12.1", "--to", "5.13.0", "--lines", "-1"], "--lines"),
        (["backport", "early-init"], "--onto"),
        (["backport", "early-init", "--onto", "5.10.3"], "5.10.2"),
        (["backport", "early-init", "--onto", "5.10.1", "--as", "No Name"], "No Name"),
        (["reproo"], "repro"),
        (["repro", "5.10.1", "--repeat", "0"], "--repeat"),
        (["atlas", "update", "--releases", "5.10.3"], "5.10.2"),
        (["atlas", "check", "--cases", "nope"], "early-init"),
        (["atlas", "show", "nope"], "early-init"),
        (["case", "check", "nope"], "early-init"),
        (["case", "new", "nothing", "--script", "x.py", "--bad", "5.10.1"], "'nothing' is no issue"),
        (["case", "new", "1", "--script", "x.py", "--bad", "5.10.3"], "5.10.2"),
        (["case", "new", "1", "--script", "no-such.py", "--bad", "5.10.1"], "no-such.py"),
        (["repro", ""], "''"),
        (["repro", "5.10.1", "--series", ""], "''"),
        (["repro", "5.10.1", "--output", "no/such/folder/x.json"], "no/such/folder"),
    ],
)
def test_bad_input_is_status_2_and_named(headwater: Run, words: list[str], named: str) -> None:
    done = headwater(*words)
    assert done.status == 2
    assert named in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["bisekt", "early-init"], "'bisect'"),
        (["patch", "staus"], "'status'"),
        (["pr", "chek", "outgoing"], "'check'"),
        (["repro", "5.10.1", "--devise", "cpu"], "'--device'"),
        (["repro", "5.10.1", "--case", "erly-init"], "the nearest are early-init,"),
        (["matrix", "--cases", "max-cache"], "the nearest are max-cache-len"),
        (["bisect", "erly-init", "--bad", "5.10.1"], "the nearest are early-init,"),
        (["atlas", "show", "batchsize"], "the nearest are batch-size,"),
        (["repro", "5.10.1", "--series", "hybrid-static-cash"], "the nearest is hybrid-static-cache"),
        (["repro", "5.10.1", "--device", "cuad"], "the nearest is cuda"),
        (["audit", "5.10.3"], "the nearest are 5.10.1, 5.10.2, 5.10.4"),
    ],
)
def test_a_wrong_word_gets_the_nearest_right_one(headwater: Run, words: list[str], nearest: str) -> None:
    done = headwater(*words)
    assert done.status == 2
    assert nearest in done.err


def test_an_error_in_json_is_one_object(headwater: Run, tmp_path: Path) -> None:
    done = headwater("repro", "5.10.3", "--json", "--output", tmp_path / "out.json")
    assert done.status == 2
    assert done.json["schema"] == 1
    assert done.json["error"]["kind"] == "bad input"
    assert json.loads((tmp_path / "out.json").read_text()) == done.json


def test_outside_of_a_workspace(headwater: Run, tmp_path: Path) -> None:
    done = headwater("repro", "5.10.1", cwd=tmp_path)
    assert done.status == 2
    assert "--workspace" in done.err


def test_unknown_keys_in_the_pins_are_refused_with_the_line(headwater: Run, workspace: Path) -> None:
    pins = workspace / "upstream" / "transformers.toml"
    text = pins.read_text(encoding="utf-8").replace('package = "transformers"', 'package = "transformers"\nflavour = 1')
    pins.write_text(text, encoding="utf-8")
    line = text.splitlines().index("flavour = 1") + 1
    done = headwater("repro", "5.10.1", cwd=workspace)
    assert done.status == 2
    assert f"line {line}: 'flavour'" in done.err


def test_offline_says_what_is_missing(headwater: Run, tmp_path: Path) -> None:
    done = headwater("repro", "5.10.1", "--offline", environ={"HEADWATER_CACHE": str(tmp_path)})
    assert done.status == 5
    assert "transformers-5.10.1-py3-none-any.whl is not cached" in done.err
    assert "harness error" in done.out


def test_cache_info_of_an_empty_cache(headwater: Run, tmp_path: Path) -> None:
    done = headwater("cache", "info", "--json", environ={"HEADWATER_CACHE": str(tmp_path / "none")})
    assert done.status == 0
    assert {shelf["bytes"] for shelf in done.json["shelves"]} == {0}
    assert not (tmp_path / "none").exists()


def test_a_usage_error_in_json_is_one_object_too(headwater: Run) -> None:
    done = headwater("repro", "5.10.1", "--repeat", "0", "--json")
    assert done.status == 2
    assert "--repeat" in done.json["error"]["message"]


def test_files_that_are_no_utf8(headwater: Run, workspace: Path) -> None:
    (workspace / "patches" / "hybrid-static-cache" / "series").write_bytes(b"# \xff\n")
    done = headwater("test-patched", cwd=workspace)
    assert done.status == 2
    assert "series: not UTF-8 at byte 2" in done.err


def test_an_entry_of_the_atlas_without_a_case(headwater: Run, workspace: Path) -> None:
    (workspace / "tests" / "repro" / "batch_size.py").unlink()
    done = headwater("repro", "5.10.1", cwd=workspace)
    assert done.status == 2
    assert "batch-size" in done.err


def test_caches_are_not_removed_from_under_a_run(headwater: Run, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    with (cache / "use.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        done = headwater("cache", "clean", environ={"HEADWATER_CACHE": str(cache)})
        assert done.status == 5
        assert "other runs use the caches" in done.err
    assert headwater("cache", "clean", environ={"HEADWATER_CACHE": str(cache)}).status == 0


def test_what_is_there_and_no_file_is_written_to(headwater: Run) -> None:
    """`--output /dev/null` must not put a file in the place of the device."""
    before = Path(os.devnull).stat()
    assert headwater("cache", "info", "--output", os.devnull).status == 0
    assert Path(os.devnull).stat().st_rdev == before.st_rdev
