# SPDX-License-Identifier: Apache-2.0
"""Mails: words in any encoding are read, and what a mail program has changed is refused by name."""

from __future__ import annotations

from email.header import Header

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.errors import BadInput
from headwater.core.mail import read_patch, same_but_ids, with_diff_of

DIFF = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
WORDS = st.text(st.characters(categories=("L", "N", "P", "S", "Zs"), codec="utf-8"), max_size=60)


def mail(*headers: str, body: str = "Why.\n") -> bytes:
    """A mail with a diff; `headers` replace those that it has."""
    named = {"From": "From: A <a@invalid.example>", "Date": "Date: today", "Subject": "Subject: [PATCH] mend"}
    named |= {header.partition(":")[0]: header for header in headers}
    return "\n".join([*named.values(), "", body, "---", ""]).encode("utf-8", "surrogateescape") + DIFF


@given(WORDS, st.sampled_from(["utf-8", "iso-8859-1", "iso-8859-15", "koi8-r", "cp1252", "shift_jis"]))
def test_words_in_any_encoding(words: str, charset: str) -> None:
    # What the encoding does not have is left out, and what the header's rules would change: runs of spaces.
    text = " ".join(words.encode(charset, "ignore").decode(charset).split())
    encoded = Header(f"[PATCH 1/2] {text}", charset).encode()
    patch = read_patch("1.patch", mail(f"Subject: {encoded}", f"From: {Header(text, charset).encode()} <a@b.example>"))
    assert patch.subject == text
    assert patch.author == f"{text} <a@b.example>".strip()


@given(st.lists(WORDS.map(lambda text: text.replace("diff --git ", "").strip()), max_size=6))
def test_a_message_is_read_as_it_stands(lines: list[str]) -> None:
    body = "\n".join(line for line in lines if line != "---")
    patch = read_patch("1.patch", mail(body=body))
    assert patch.body == body.strip()
    assert patch.message == (f"mend\n\n{body.strip()}\n" if body.strip() else "mend\n")


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for text in (content, content + mail(), mail().replace(b"Why.", content), mail() + content):
        try:
            read_patch("0001-x.patch", text)
        except BadInput as error:
            assert str(error).startswith("0001-x.patch: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (mail().replace(b"\n", b"\r\n"), "headers end in CR LF; a mail program changed it"),
        (mail("Content-Transfer-Encoding: quoted-printable"), "encoded as quoted-printable; `headwater patch import`"),
        (mail("Content-Transfer-Encoding: BASE64"), "encoded as base64"),
        (mail("From: J\udcf6rg <j@invalid.example>"), r"not UTF-8 at byte 7, in the line 'From: Jörg <j@"),
        (mail(body="J\udcf6rg\n"), r"not UTF-8 at byte \d+, in the line 'Jörg'"),
        (mail(body="a\0b\n"), "hold a null byte"),
        (mail("Subject: =?utf-8?q?a=00b?="), r"Subject header holds a control character: 'a\\x00b'"),
        (mail("From: =?utf-8?q?a=1Bb?= <a@b.example>"), "From header holds a control character"),
        (mail("From: =?utf-8?q?a=FFb?= <a@b.example>"), "From header (cannot be decoded|holds)"),
        (mail("Subject: =?unicode-escape?q?=5Cud800?="), "Subject header holds a control character"),
        (mail("Subject: =?no-such?q?abc?="), "Subject header cannot be decoded"),
    ],
)
def test_refused_by_name(content: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=rf"^0001-x\.patch: .*{message}"):
        read_patch("0001-x.patch", content)


@pytest.mark.parametrize("encoding", ["7bit", "8bit", "binary", "8BIT"])
def test_plain_encodings_are_taken(encoding: str) -> None:
    patch = read_patch("1.patch", mail(f"Content-Transfer-Encoding: {encoding}", body="Zoë\n"))
    assert patch.body == "Zoë"


def test_line_ends_of_a_diff_are_those_of_its_file() -> None:
    content = mail() + b"@@ -5 +5 @@\n-a\r\n+b\r\n"
    [change] = read_patch("1.patch", content).changes
    assert change.hunks[1].body == b"-a\r\n+b\r\n"


def test_a_diff_that_the_message_quotes_is_none_of_the_patch() -> None:
    quoted = "as in\n\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"
    patch = read_patch("1.patch", mail(body=quoted))
    assert [change.path for change in patch.changes] == ["x"]
    assert b"b/y" not in patch.diff
    head = patch.content[: patch.content.index(DIFF)]
    assert patch.diff == b"\n" * head.count(b"\n") + DIFF


def test_a_backport_says_so_and_names_its_paths() -> None:
    patch = read_patch("1.patch", mail(body="Why.\n\nOrigin: backport, 0123\n"))
    assert patch.is_backport and not read_patch("1.patch", mail()).is_backport
    assert patch.paths == ("x",)


def test_ids_of_contents_do_not_count_unless_the_content_is_binary() -> None:
    one, other = (b"diff --git a/x b/x\nindex %s..2222222\n" % old for old in (b"0000000", b"1111111"))
    assert same_but_ids(one, other) and not same_but_ids(one, other + b"-a\n")
    assert not same_but_ids(one + b"\nGIT binary patch\n", other + b"\nGIT binary patch\n")


def test_a_diff_is_changed_and_the_message_stays() -> None:
    new = mail(body="Another reason.\n").replace(b"+b\n", b"+c\n")
    made = with_diff_of(mail(), new)
    assert read_patch("1.patch", made).body == "Why."
    assert made.endswith(DIFF.replace(b"+b\n", b"+c\n"))
