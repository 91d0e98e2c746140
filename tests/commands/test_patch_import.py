# SPDX-License-Identifier: Apache-2.0
"""`headwater patch import`: what git and mail programs write becomes a series, or nothing does."""

from __future__ import annotations

from collections.abc import Sequence
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pytest
from carries import Carries, contents
from grounds import MORE, git, text, write_files

pytestmark = pytest.mark.slow

A = "src/transformers/a.py"
LONG = "A subject that is much longer than the seventy-odd letters that a mail's line holds, with Ünïcödé in it"
BODY = "First paragraph,\nin two lines.\n\n  indented\n\nHeadwater-Case: one\nSigned-off-by: Zoë <zoe@invalid.example>"


@pytest.fixture
def clone(carries: Carries) -> Path:
    """A clone with three commits on top of 5.0.0: text, a rename and binaries, line ends; deletions and new files."""
    tree = carries.grounds.clone("5.0.0", MORE)
    git(tree, "config", "core.autocrlf", "false")
    write_files(tree, {A: text(l6=b"zoe")})
    commit(tree, LONG, BODY)
    git(tree, "mv", "src/transformers/old.py", "src/transformers/moved.py")
    write_files(tree, {"src/transformers/data.bin": bytes(reversed(range(256)))})
    commit(tree, "Move and change", "")
    (tree / "src/transformers/gone.py").unlink()
    write_files(tree, {"src/transformers/crlf.py": b"x = 1\r\ny = 3\r\n", "tests/models/test_new.py": b"new = 1"})
    commit(tree, "[tests] Line ends", "Body.")
    return tree


def commit(tree: Path, subject: str, body: str) -> None:
    git(tree, "add", "--all")
    who = {"GIT_AUTHOR_NAME": "Zoë, the Ångström", "GIT_AUTHOR_DATE": "2026-02-01T03:04:05+0530"}
    git(tree, "commit", "--quiet", "-m", f"{subject}\n\n{body}", **who)


def mails(tree: Path, *options: str, last: int = 3) -> list[Path]:
    """What `git format-patch` writes of the last commits."""
    folder = tree.parent / f"mails{'-'.join(options)}"
    git(tree, "format-patch", "--quiet", f"-{last}", "-o", folder, *options)
    return sorted(folder.iterdir())


def same_commits(carries: Carries, clone: Path, series: str) -> None:
    """See that a series makes the very trees and messages of the clone's commits."""
    tree = carries.grounds.clone("5.0.0", MORE, f"clone-{series}")
    carries.patch("apply", series, "--tree", tree)
    shape = ("log", "-3", "--format=%T|%an|%ae|%at|%B")
    # git am takes what stands in brackets for no part of the subject; git format-patch -k keeps it.
    assert git(tree, *shape) == git(clone, *shape).replace("[tests] ", "")


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-p",),
        ("--no-signature", "--no-stat"),
        ("--numbered",),
        ("--no-numbered",),
        ("--attach",),
        ("--inline",),
        ("--full-index", "--binary"),
        ("--thread", "--base=HEAD~3"),
        ("--signature=me",),
        ("-v2", "--rfc"),
    ],
)
def test_what_git_format_patch_writes(carries: Carries, clone: Path, options: Sequence[str]) -> None:
    files = mails(clone, *options)
    done = carries.patch("import", "mine", *files, "--base", "5.0.0", "--json")
    assert done.json["new"]
    assert len(done.json["files"]) == 3
    same_commits(carries, clone, "mine")
    assert carries.states("5.0.0", "mine") == ["clean"] * 3
    first = (carries.root / "patches" / "mine" / done.json["files"][0]).read_bytes()
    assert b"\n  indented\n" in first
    assert b"\n-- \n" not in first


def test_a_folder_and_a_mailbox(carries: Carries, clone: Path, tmp_path: Path) -> None:
    files = mails(clone)
    carries.patch("import", "by-folder", files[0].parent, "--base", "5.0.0")
    box = tmp_path / "mail.mbox"
    box.write_bytes(b"".join(path.read_bytes() for path in files))
    done = carries.patch("import", "by-box", box, "--base", "5.0.0", "--json")
    assert done.json["files"] == [
        "0001-A-subject-that-is-much-longer-than-the-seventy-odd-l.patch",
        "0002-Move-and-change.patch", "0003-Line-ends.patch",
    ]  # fmt: skip
    same_commits(carries, clone, "by-box")
    by_folder, by_box = (contents(carries.root / "patches" / name) for name in ("by-folder", "by-box"))
    assert sorted(by_folder) == [
        "0001-A-subject-that-is-much-longer-than-the-seventy-odd-l.patch",
        "0002-Move-and-change.patch",
        "0003-tests-Line-ends.patch",
        "series",
    ]
    assert [by_folder[name] for name in sorted(by_folder)[:3]] == [by_box[name] for name in sorted(by_box)[:3]]


def test_more_for_a_series(carries: Carries, clone: Path) -> None:
    before = contents(carries.mend)
    (carries.mend / "series").write_bytes(before["series"] + b"# the end, without a line feed")
    done = carries.patch("import", "mend", mails(clone, last=1)[0], "--json")
    assert (done.json["new"], done.json["files"]) == (False, ["0004-Line-ends.patch"])
    assert (carries.mend / "series").read_bytes() == (
        before["series"] + b"# the end, without a line feed\n0004-Line-ends.patch\n"
    )
    assert carries.states("5.0.0") == ["clean"] * 4
    assert carries.patch("import", "mend", mails(clone, last=2)[0], "--base", "5.0.0", "--json").json["files"] == [
        "0005-Move-and-change.patch"
    ]


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "koi8-r"])
@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "8bit"])
def test_what_mail_programs_write(carries: Carries, clone: Path, tmp_path: Path, charset: str, encoding: str) -> None:
    write_files(clone, {A: text(l6=b"zoe", l20=b"more")})
    word = "Жизнь" if charset == "koi8-r" else "Ünïcödé"
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "-m", "plain")
    diff = git(clone, "diff", "HEAD^", "HEAD", "--", A)
    mail = EmailMessage()
    mail["From"], mail["Date"] = f"{word} <a@invalid.example>", "Thu, 1 Jan 2026 00:00:00 +0000"
    mail["Subject"] = f"Re: [PATCH 1/1] {word} and a subject that is so long that mail programs fold it somewhere"
    mail.set_content(f"{word} is why.\n---\n a.py | 2 +-\n\n{diff}\n", charset=charset, cte=encoding)
    whole = mails(clone, last=4)
    box = tmp_path / "reply.eml"
    box.write_bytes(mail.as_bytes(policy=SMTP if encoding == "base64" else mail.policy))
    carries.patch("import", "mine", *whole[:3], "--base", "5.0.0")
    done = carries.patch("import", "mine", box, "--json")
    content = (carries.root / "patches" / "mine" / done.json["files"][0]).read_bytes()
    tree = carries.grounds.clone("5.0.0", MORE, "applied")
    carries.patch("apply", "mine", "--tree", tree)
    shown = git(tree, "log", "-1", "--format=%an|%s|%b").strip()
    assert shown == f"{word}|{word} and a subject that is so long that mail programs fold it somewhere|{word} is why."
    assert f"{word} is why.\n".encode() in content


def test_a_mail_with_carriage_returns(carries: Carries, clone: Path, tmp_path: Path) -> None:
    mail = mails(clone)[0]
    windows = tmp_path / mail.name
    windows.write_bytes(mail.read_bytes().replace(b"\n", b"\r\n"))
    carries.patch("import", "mine", windows, "--base", "5.0.0")
    carries.patch("import", "plain", mail, "--base", "5.0.0")
    assert contents(carries.root / "patches" / "mine") == contents(carries.root / "patches" / "plain")


def refused(carries: Carries, *words: str | Path, status: int = 2) -> str:
    """The message with which an import is refused; nothing is changed."""
    before = contents(carries.root / "patches")
    done = carries.patch("import", *words, "--json", status=status)
    assert contents(carries.root / "patches") == before
    return str(done.json["error"]["message"])


def test_what_is_no_patch(carries: Carries, clone: Path, tmp_path: Path) -> None:
    nothing, words, noise = (tmp_path / name for name in ("empty.mbox", "words.txt", "noise.patch"))
    nothing.write_bytes(b"")
    words.write_text("From: A <a@invalid.example>\nDate: 1 Jan 2026\nSubject: hello\n\nno diff\n", encoding="utf-8")
    noise.write_bytes(bytes(range(256)))
    new = ("mine", "--base", "5.0.0")
    for path in (nothing, words, noise):
        assert str(path) in refused(carries, *new, path)
    words.write_bytes(
        mails(clone)[0].read_bytes().replace(b"charset=UTF-8", b"charset=US-ASCII").replace(b"Zo\xc3\xab", b"Zo\xeb")
    )
    assert str(words) in refused(carries, *new, words)
    words.write_bytes(mails(clone)[0].read_bytes().replace(b"Zo\xc3\xab", b"Zo\xeb"))
    assert "charset" in refused(carries, *new, words)
    (tmp_path / "bare").mkdir()
    assert "no *.patch file" in refused(carries, *new, tmp_path / "bare")
    assert "no such file" in refused(carries, *new, tmp_path / "none.patch")
    cover, *rest = mails(clone, "--cover-letter")
    assert "leave it out" in refused(carries, *new, cover, *rest)
    assert str(cover) in refused(carries, *new, cover.parent)


def test_what_does_not_apply(carries: Carries, clone: Path, tmp_path: Path) -> None:
    files = mails(clone)
    # The third needs nothing of the others; the first once more does not fit.
    told = refused(carries, "mine", "--base", "5.0.0", files[2], files[0], files[0], status=1)
    assert "A subject that is" in told or files[0].name in told
    assert A in told
    assert "offset" in refused(carries, "mine", "--base", "5.1.0", files[0], status=1)
    box = tmp_path / "mail.mbox"
    box.write_bytes(b"".join(path.read_bytes() for path in (*files, files[1])))
    told = refused(carries, "mine", "--base", "5.0.0", box, status=1)
    assert "'Move and change' of mail.mbox" in told


def test_names_and_bases(carries: Carries, clone: Path) -> None:
    mail = mails(clone)[0]
    assert "--base RELEASE" in refused(carries, "mine", mail)
    told = refused(carries, "mend", mail, "--base", "5.1.0")
    assert "5.0.0" in told
    assert "5.1.0" in told
    assert "'Mine'" in refused(carries, "Mine", mail, "--base", "5.0.0")
    assert "'../mine'" in refused(carries, "../mine", mail, "--base", "5.0.0")
    assert "5.9.9" in refused(carries, "mine", mail, "--base", "5.9.9")
    (carries.root / "patches" / "taken").mkdir()
    assert "taken" in refused(carries, "taken", mail, "--base", "5.0.0")


@pytest.mark.parametrize("series", ["mine", "mend"])
def test_killed_it_leaves_no_half(carries: Carries, clone: Path, series: str) -> None:
    files = mails(clone)[1:]
    base = () if series == "mend" else ("--base", "5.0.0")
    words = ("import", series, *map(str, files), *base)
    folder = carries.root / "patches" / series
    before = contents(folder)
    steps = carries.killed_at(0, *words)
    assert steps is not None
    wanted = contents(folder)
    for moment in range(steps - 12, steps + 1, 3):
        carries.have(series, before)
        assert carries.killed_at(moment, *words) is None
        states = carries.states("5.0.0", series) if (folder / "series").exists() else []
        assert set(states) <= {"clean"}
        now = {name: content for name, content in contents(folder).items() if not name.startswith(".new-")}
        assert now in (before, wanted)
