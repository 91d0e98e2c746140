# SPDX-License-Identifier: Apache-2.0
"""The door to git: one repository, whatever the machine, the user or a surrounding hook have set."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.core.errors import HarnessError
from headwater.effects.git import GitDir, GitFailed, init_bare, shed_git_variables

Git = Callable[..., str]


@pytest.fixture
def bare(tmp_path: Path) -> GitDir:
    """An empty bare repository."""
    init_bare(tmp_path / "bare.git")
    return GitDir(tmp_path / "bare.git")


def blob(repository: GitDir, tmp_path: Path, content: bytes) -> str:
    (tmp_path / "content").write_bytes(content)
    return repository("hash-object", "-w", "--no-filters", tmp_path / "content")


def test_a_fresh_repository_has_no_hooks_and_is_sha1(bare: GitDir) -> None:
    assert bare("rev-parse", "--is-bare-repository") == "true"
    assert bare("rev-parse", "--show-object-format") == "sha1"
    assert not list(bare.path.glob("hooks/*"))


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"a\nb\n", "a\nb"), (b"a\n\n", "a\n"), (b"", ""), (b"\n", ""), (b" a ", " a "), (b"a\r\n", "a\r")],
)
def test_output_comes_without_the_last_line_feed_and_raw_as_it_is(
    bare: GitDir, tmp_path: Path, content: bytes, text: str
) -> None:
    name = blob(bare, tmp_path, content)
    assert bare("cat-file", "blob", name) == text
    assert bare.raw("cat-file", "blob", name) == content


def test_output_that_is_no_utf8_survives(bare: GitDir, tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000
    name = blob(bare, tmp_path, content)
    assert bare.raw("cat-file", "blob", name) == content
    assert os.fsencode(bare("cat-file", "blob", name)) == content


def test_a_failure_has_gits_own_words(bare: GitDir) -> None:
    with pytest.raises(GitFailed, match=r"git cat-file ended with status 128: fatal: .*nonsense") as caught:
        bare("cat-file", "blob", "nonsense")
    assert caught.value.status == 128
    assert isinstance(caught.value, HarnessError)


def test_credentials_do_not_show(bare: GitDir) -> None:
    with pytest.raises(GitFailed) as caught:
        bare("fetch", "http://user:hunter2@127.0.0.1:1/x.git", environ={"http_proxy": "", "no_proxy": "*"})
    assert "127.0.0.1" in str(caught.value)
    assert "hunter2" not in str(caught.value) + caught.value.stderr


def test_standard_input(bare: GitDir, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"hello\n")
    with (tmp_path / "in").open("rb") as source:
        assert bare("hash-object", "--stdin", stdin=source) == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_an_index_and_a_work_tree_aside(bare: GitDir, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a").write_bytes(b"a\r\n")
    bare("add", "a", work_tree=work, index=tmp_path / "index")
    assert bare("ls-files", index=tmp_path / "index") == "a"
    assert not (bare.path / "index").exists()


LEAKING = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE",
)  # fmt: skip


@pytest.mark.parametrize("name", LEAKING)
def test_variables_of_a_surrounding_hook_have_no_say(
    bare: GitDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: Git, name: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    before = sorted(str(path) for path in other.rglob("*"))
    monkeypatch.setenv(name, str(other / ".git"))
    shed_git_variables()
    assert name not in os.environ
    object_id = blob(bare, tmp_path, b"x")
    assert bare("cat-file", "-t", object_id) == "blob"
    assert (bare.path / "objects" / object_id[:2] / object_id[2:]).is_file()
    assert sorted(str(path) for path in other.rglob("*")) == before


def test_the_users_configuration_has_no_say(
    bare: GitDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: Git
) -> None:
    settings = tmp_path / "settings"
    settings.write_text(
        "[user]\nname=Somebody Else\n[core]\nautocrlf=true\nhooksPath=/nowhere\n[init]\ndefaultObjectFormat=sha256\n"
        "[commit]\ngpgSign=true\n[i18n]\ncommitEncoding=latin1\n[alias]\nlog=!false\n[merge]\nconflictStyle=diff3\n"
    )
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, str(settings))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.autocrlf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    shed_git_variables()
    assert bare("config", "--get", "--default", "none", "user.name") == "none"
    assert bare("config", "--get", "core.autocrlf") == "false"
    empty = bare("hash-object", "-t", "tree", "-w", os.devnull)
    commit = bare("commit-tree", "-m", "m\u00fc", empty)
    assert commit == "f34c5373fd8882641a56a7f8cfc8a04347774d88"
    init_bare(tmp_path / "second.git")
    assert GitDir(tmp_path / "second.git")("rev-parse", "--show-object-format") == "sha1"


def test_other_variables_of_the_machine_do_not_change_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    monkeypatch.setenv("GIT_DEFAULT_REF_FORMAT", "reftable")
    shed_git_variables()
    init_bare(tmp_path / "bare.git")
    assert GitDir(tmp_path / "bare.git")("rev-parse", "--show-object-format") == "sha1"


def test_no_git_on_the_path(bare: GitDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HarnessError, match="git is not installed, or not on PATH"):
        bare("version")


def test_a_repository_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="not a git repository"):
        GitDir(tmp_path / "missing.git")("rev-parse", "HEAD")
