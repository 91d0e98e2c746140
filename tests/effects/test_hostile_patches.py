# SPDX-License-Identifier: Apache-2.0
"""Patches of every kind that git knows, and some that nobody should apply: done as they say, or refused by file and
hunk; nothing half applied, and nothing left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version
from series import HEAD, apply_series, import_commits

from headwater.core.errors import BadInput, HeadwaterError, PatchFailed
from headwater.effects.git import GitDir
from headwater.effects.merging import read_file
from headwater.effects.series_folder import read_series_folder
from headwater.effects.workspace import Cache

PACKAGE = "src/transformers"
TEXT = b"".join(b"line %d\n" % number for number in range(1, 21))
BINARY = bytes(range(256))
BASE = {
    f"{PACKAGE}/__init__.py": b"",
    f"{PACKAGE}/a.txt": TEXT,
    f"{PACKAGE}/crlf.txt": TEXT.replace(b"\n", b"\r\n"),
    f"{PACKAGE}/open.txt": TEXT.removesuffix(b"\n"),
    f"{PACKAGE}/mixed.txt": b"one\r\ntwo\nthree\r\n",
    f"{PACKAGE}/image.bin": BINARY,
    f"{PACKAGE}/empty.txt": b"",
    f'{PACKAGE}/Zo\xc3\xab "x".txt'.encode("latin-1").decode(): TEXT,
}
BOTH = ("base", "later")
Refs = Callable[[GitDir], dict[str, str]]


def changed(**files: bytes | None) -> dict[str, bytes]:
    """The base with some files of the package changed, made or, where None, taken away; "_" stands for "."."""
    named = {f"{PACKAGE}/{name.replace('_', '.')}": content for name, content in files.items()}
    return {path: content for path, content in {**BASE, **named}.items() if content is not None}


ODD = next(name for name in BASE if "Zo" in name)
# What a step makes of the base; git writes the patch.
STEPS = {
    "crlf": changed(crlf_txt=TEXT.replace(b"\n", b"\r\n").replace(b"line 9\r", b"nine\r")),
    "crlf to lf": changed(crlf_txt=TEXT),
    "mixed ends": changed(mixed_txt=b"one\r\nzwei\r\nthree\n"),
    "still no final newline": changed(open_txt=TEXT.removesuffix(b"\n") + b"!"),
    "a final newline comes": changed(open_txt=TEXT),
    "the final newline goes": changed(a_txt=TEXT.removesuffix(b"\n")),
    "binary": changed(image_bin=BINARY[::-1]),
    "binary comes": changed(new_bin=b"\0\1\2" * 40),
    "text to binary": changed(a_txt=b"\0" + TEXT),
    "rename": {**changed(a_txt=None), f"{PACKAGE}/deep/b.txt": TEXT},
    "rename and change": {**changed(a_txt=None), f"{PACKAGE}/b.txt": TEXT.replace(b"line 9\n", b"nine\n")},
    "delete": changed(a_txt=None),
    "delete an empty file": changed(empty_txt=None),
    "create": changed(new_txt=b"new\n"),
    "create an empty file": changed(new_txt=b""),
    "fill an empty file": changed(empty_txt=b"full\n"),
    "an odd name": {**BASE, ODD: TEXT.replace(b"line 9\n", b"nine\n")},
    "lines that look like a diff": changed(
        a_txt=TEXT + b"diff --git a/x b/x\n-- \n2.39.5\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n"
    ),
    "not UTF-8": changed(a_txt=TEXT.replace(b"line 9", b"\xff\xfe 9")),
    "a test beside the package": {**BASE, "tests/test_a.py": b"def test() -> None: ...\n"},
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cache, GitDir, dict[str, str]]:
    """One repository with the base, a later release, in which every file has moved on, and the result of each step."""
    cache = Cache(tmp_path_factory.mktemp("hostile") / "cache", "transformers")
    later = {**BASE, f"{PACKAGE}/other.txt": b"other\n"}
    steps = {f"step-{n}": files for n, files in enumerate(STEPS.values())}
    git, ids = import_commits(cache, {"base": BASE, "later": later, **steps})
    return cache, git, ids


@pytest.fixture
def series_in(tmp_path: Path, repository: tuple[Cache, GitDir, dict[str, str]]) -> Callable[..., Path]:
    """Write mails as a series on the base."""
    _cache, git, ids = repository

    def write(*mails: bytes) -> Path:
        folder = tmp_path / "patches" / "mend"
        folder.mkdir(parents=True)
        names = [f"{number:04d}-mend.patch" for number in range(1, len(mails) + 1)]
        for name, mail in zip(names, mails, strict=True):
            (folder / name).write_bytes(mail)
        tree = git("rev-parse", f"{ids['base']}:{PACKAGE}")
        (folder / "series").write_text("\n".join([f"base: 5.0.0 {tree}", *names, ""]), encoding="utf-8")
        return folder

    return write


def mail_of(diff: bytes, author: bytes = b"A <a@invalid.example>") -> bytes:
    """A diff as `git format-patch` sends it, with a signature."""
    return HEAD.replace(b"A <a@invalid.example>", author) + b"---\n\n" + diff + b"-- \n2.39.5\n\n"


def state_of(cache: Cache, git: GitDir, refs: Refs) -> tuple[object, ...]:
    """What must not change: refs, what is reachable from them, whether that is sound, and the folders of work."""
    reachable = git("rev-list", "--objects", "--all")
    git("fsck", "--connectivity-only", "--no-dangling")
    return refs(git), reachable, sorted(cache.incoming.rglob("*")), sorted(p.name for p in cache.root.iterdir())


@pytest.mark.parametrize("target", BOTH)
@pytest.mark.parametrize("name", STEPS)
def test_done_as_it_says(
    repository: tuple[Cache, GitDir, dict[str, str]], series_in: Callable[..., Path], refs: Refs, name: str, target: str
) -> None:
    cache, git, ids = repository
    wanted = ids[f"step-{list(STEPS).index(name)}"]
    cache.incoming.mkdir(exist_ok=True)
    before = state_of(cache, git, refs)
    diff = git.raw("diff", "--binary", "--full-index", "-M", ids["base"], wanted)
    series = read_series_folder(series_in(mail_of(diff)), [Version("5.0.0")])
    applied = apply_series(cache, git, series, ids["base"], ids[target])
    meant = git("diff-tree", "-r", "--no-renames", ids["base"], wanted)
    assert git("diff-tree", "-r", "--no-renames", ids[target], applied.commit) == meant != ""
    assert state_of(cache, git, refs) == before
    again = apply_series(cache, git, series, ids["base"], applied.commit)
    assert git("rev-parse", f"{again.commit}^{{tree}}") == git("rev-parse", f"{applied.commit}^{{tree}}")


GOOD = b"diff --git a/src/transformers/a.txt b/src/transformers/a.txt\n--- a/src/transformers/a.txt\n" \
    b"+++ b/src/transformers/a.txt\n@@ -8,3 +8,3 @@\n line 8\n-line 9\n+nine\n line 10\n"  # fmt: skip


def new_file(path: bytes, mode: bytes = b"100644") -> bytes:
    """A diff that makes a file; what stands for its name is taken as it is."""
    return b"diff --git a/x b/x\nnew file mode %s\n--- /dev/null\n+++ %s\n@@ -0,0 +1 @@\n+x\n" % (mode, path)


@pytest.mark.parametrize(
    ("mail", "error", "words"),
    [
        (mail_of(new_file(b"b/../../outside")), BadInput, r"'\.\./\.\./outside', hunk 1 \(@@ -0,0 \+1 @@\)"),
        (mail_of(new_file(b"b/src/../../x")), BadInput, r"'src/\.\./\.\./x', hunk 1 \(@@ -0,0 \+1 @@\)"),
        (mail_of(new_file(b"/etc/x")), BadInput, r"'/etc/x', hunk 1 \(@@ -0,0 \+1 @@\) does not lie inside the tree"),
        (mail_of(new_file(b'"b/\\056\\056/x"')), BadInput, r"'\.\./x', hunk 1"),
        (mail_of(new_file(b"b/.git/hooks/post-checkout")), BadInput, r"'\.git/hooks/post-checkout', hunk 1"),
        (mail_of(new_file(b"b/src/.GIT/config")), BadInput, r"'src/\.GIT/config', hunk 1"),
        (mail_of(new_file(b"b/x", b"120000")), BadInput, "x is a symbolic link"),
        (mail_of(new_file(b"b/x", b"160000")), BadInput, "x is a submodule"),
        (mail_of(GOOD).replace(b"\n", b"\r\n"), BadInput, "end in CR LF; a mail program changed it"),
        (mail_of(GOOD.replace(b"\n", b"\r\n")), PatchFailed, r"a\.txt"),
        (mail_of(GOOD.replace(b"+nine\n line 10\n", b"+nine")).partition(b"-- \n")[0], BadInput,
         r"src/transformers/a\.txt, hunk 1 \(@@ -8,3 \+8,3 @@\) is cut short"),
        (mail_of(GOOD.replace(b" line 10\n", b"")), BadInput, r"a\.txt, hunk 1 \(@@ -8,3 \+8,3 @@\) (is cut|has more)"),
        (mail_of(GOOD + b"+more\n"), BadInput, r"a\.txt, hunk 1 \(@@ -8,3 \+8,3 @@\) has more lines"),
        (mail_of(GOOD.replace(b"line 9", b"line nine")), PatchFailed,
         r"hunk 1 of src/transformers/a\.txt \(@@ -8,3 \+8,3 @@\) does not fit"),
        (mail_of(GOOD.replace(b"@@ -8,3 +8,3 @@", b"@@ -7,3 +7,3 @@")), PatchFailed, "Hunk #1 succeeded at 8 "),
        (mail_of(GOOD.replace(b"a.txt", b"gone.txt")), PatchFailed, r"src/transformers/gone\.txt"),
        (mail_of(b"diff --git a/src/transformers/image.bin b/src/transformers/image.bin\nindex 1..2 100644\n"
                 b"Binary files a/src/transformers/image.bin and b/src/transformers/image.bin differ\n"), PatchFailed,
         r"src/transformers/image\.bin"),
        (mail_of(new_file(b"b/src/transformers/a.txt").replace(b"a/x b/x", b"a/src/transformers/a.txt "
                 b"b/src/transformers/a.txt")), PatchFailed, r"src/transformers/a\.txt: already exists"),
        (b"", BadInput, "not a patch as `git format-patch` writes it"),
        (mail_of(b""), BadInput, "not a patch"),
        (mail_of(b"diff --git a/x b/x\n"), BadInput, "x, hunk 1 is cut short"),
        (mail_of(GOOD, b"J\xf6rg <j@invalid.example>"), BadInput, "not UTF-8 at byte 7, in the line 'From: Jörg"),
        (mail_of(GOOD, b"=?utf-8?q?=00?= <j@invalid.example>"), BadInput, "From header holds a control character"),
        (mail_of(GOOD, b"<>"), BadInput, "git takes no commit of author '<>'"),
        (mail_of(GOOD).replace(b"Thu, 1 Jan 2026 00:00:00 +0000", b"one day"), BadInput, "and date 'one day'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", BOTH)
def test_refused_by_name_with_nothing_applied(
    repository: tuple[Cache, GitDir, dict[str, str]], series_in: Callable[..., Path], refs: Refs,
    mail: bytes, error: type[HeadwaterError], words: str, target: str,
) -> None:  # fmt: skip
    cache, git, ids = repository
    cache.incoming.mkdir(exist_ok=True)
    before = state_of(cache, git, refs)
    first = mail_of(new_file(b"b/tests/test_new.py").replace(b"a/x b/x", b"a/tests/test_new.py b/tests/test_new.py"))
    folder = series_in(first, mail)
    with pytest.raises(error, match=f"0002-mend.patch.*{words}"):
        apply_series(cache, git, read_series_folder(folder, [Version("5.0.0")]), ids["base"], ids[target])
    assert state_of(cache, git, refs) == before


@pytest.mark.parametrize(
    ("author", "name"),
    [
        (b"=?ISO-8859-1?Q?J=F6rg?= <a@invalid.example>", "Jörg <a@invalid.example>"),
        (b"=?UTF-8?q?Zo=C3=AB?= <a@invalid.example>", "Zoë <a@invalid.example>"),
        ("Zoë <a@invalid.example>".encode(), "Zoë <a@invalid.example>"),
        (b"a@invalid.example", "a@invalid.example <a@invalid.example>"),
        (b'"Last, First" <a@invalid.example>', "Last, First <a@invalid.example>"),
    ],
)
def test_authors(
    repository: tuple[Cache, GitDir, dict[str, str]], series_in: Callable[..., Path], author: bytes, name: str
) -> None:
    cache, git, ids = repository
    series = read_series_folder(series_in(mail_of(GOOD, author)), [Version("5.0.0")])
    applied = apply_series(cache, git, series, ids["base"], ids["later"])
    assert git("log", "-1", "--format=%an <%ae>", applied.commit) == name
    assert read_file(git, applied.commit, f"{PACKAGE}/a.txt") == TEXT.replace(b"line 9\n", b"nine\n")
