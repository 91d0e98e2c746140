# SPDX-License-Identifier: Apache-2.0
"""Series files, and patches as `git format-patch` writes them."""

from __future__ import annotations

from email.header import Header

import pytest
from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.mail import read_patch
from headwater.core.series import read_series, resolve_patch

TREE = "2f3082fbd383a3fea53c4c2e0348d9e80917cc62"
SERIES = f"""\
# hybrid-static-cache: base: and 0009-not-this.patch are words of a comment

base: 5.10.1 {TREE}
0001-early-initialization.patch
  0002-is-initialized.patch
# 0003-left-out.patch
0004-max_batch+size.v2.patch
"""

MAIL = """\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: Headwater <headwater@invalid.example>
Date: Mon, 30 Nov 2026 12:00:00 +0000
Subject: [PATCH 1/4] early initialization skips layers without key/value
 states

Cache.early_initialization handed a tensor to every layer -- é.
--- is no end when more follows

Headwater-Case: early-init
Headwater-Case:is-initialized
Headwater-Also: early-init-again
 Headwater-Case: indented
See Headwater-Case: inline
"""
STAT = """\
---
 src/transformers/cache_utils.py | 1 +
 2 files changed, 3 insertions(+)

Headwater-Case: below-the-line

"""
DIFF = """\
diff --git a/src/transformers/cache_utils.py b/src/transformers/cache_utils.py
--- a/src/transformers/cache_utils.py
+++ b/src/transformers/cache_utils.py
@@ -1,1 +1,2 @@
 a
+b
diff --git a/tests/utils/test_cache_utils.py b/tests/utils/test_cache_utils.py
--- a/tests/utils/test_cache_utils.py
+++ b/tests/utils/test_cache_utils.py
@@ -1,1 +1,2 @@
 a
+b
diff --git a/tests/new.py b/tests/new.py
new file mode 100644
--- /dev/null
+++ b/tests/new.py
@@ -0,0 +1 @@
+a
diff --git a/tests/gone.py b/tests/gone.py
deleted file mode 100644
--- a/tests/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-a
diff --git a/src/tests/no.py b/src/tests/no.py
--- a/src/tests/no.py
+++ b/src/tests/no.py
@@ -1,1 +1,2 @@
 a
+b
--
2.39.0

"""


def test_what_a_series_says() -> None:
    series = read_series(SERIES, "series")
    assert (series.base, series.base_tree) == (Version("5.10.1"), TREE)
    assert series.patches == (
        "0001-early-initialization.patch",
        "0002-is-initialized.patch",
        "0004-max_batch+size.v2.patch",
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (f"base: 5.10.1 {TREE}", f"base: 5.10.1 {TREE}\nbase: 5.10.2 {TREE}", "line 4: a second base"),
        (f"base: 5.10.1 {TREE}", "base: 5.10.1", "line 3: not `base: RELEASE TREE-ID`"),
        (f"base: 5.10.1 {TREE}", f"base: 5.10.1 {TREE[:12]}", "line 3: not `base: RELEASE TREE-ID`"),
        (f"base: 5.10.1 {TREE}", f"base: 5.10.1 {TREE} more", "line 3: not `base: RELEASE TREE-ID`"),
        (f"base: 5.10.1 {TREE}", f"base: {TREE}", "line 3: not `base: RELEASE TREE-ID`"),
        (f"base: 5.10.1 {TREE}", f"base: five {TREE}", "line 3: .*not a version"),
        (f"base: 5.10.1 {TREE}", "", "no `base: RELEASE TREE-ID` line"),
        ("  0002-is", "0001-early-initialization.patch\n0002-is", "line 5: 0001-early.*twice"),
        ("  0002-is", "  0002 is", "line 5: neither a comment"),
        ("  0002-is", "../0002-is", "line 5: neither a comment"),
        ("  0002-is", "/0002-is", "line 5: neither a comment"),
        ("  0002-is", "-0002-is", "line 5: neither a comment"),
        ("is-initialized.patch", "is-initialized.patch # why", "line 5: neither a comment"),
        ("is-initialized.patch", "is-initialized.diff", "line 5: neither a comment"),
    ],
)
def test_a_series_refused_with_the_line(old: str, new: str, message: str) -> None:
    assert SERIES.count(old) == 1
    with pytest.raises(BadInput, match=rf"^patches/x/series.*{message}"):
        read_series(SERIES.replace(old, new), "patches/x/series")


@pytest.mark.parametrize(("text", "what"), [("", "no `base"), (f"base: 5.10.1 {TREE}\n# 1.patch\n", "no patch")])
def test_an_empty_series(text: str, what: str) -> None:
    with pytest.raises(BadInput, match=f"^series: .*{what}"):
        read_series(text, "series")


@pytest.mark.parametrize("first_line", [True, False], ids=["mbox", "mail"])
@pytest.mark.parametrize("stat", [STAT, "---\n\n", "\n"], ids=["stat", "line", "no stat"])
def test_what_a_patch_says(stat: str, first_line: bool) -> None:
    mail = MAIL if first_line else MAIL.partition("\n")[2]
    content = (mail + stat + DIFF).encode()
    patch = read_patch("0001-x.patch", content)
    assert (patch.file, patch.content) == ("0001-x.patch", content)
    assert patch.subject == "early initialization skips layers without key/value states"
    assert patch.author == "Headwater <headwater@invalid.example>"
    assert patch.date == "Mon, 30 Nov 2026 12:00:00 +0000"
    assert patch.body.startswith("Cache.early_initialization handed a tensor to every layer -- é.\n--- is no")
    assert patch.body.endswith("See Headwater-Case: inline")
    assert patch.cases == ("early-init", "is-initialized")
    assert patch.also == ("early-init-again",)
    assert patch.tests == ("tests/utils/test_cache_utils.py", "tests/new.py")


LONG = "die Größe des Zwischenspeichers zählt nur die Schichten mit Aufmerksamkeit " * 2


@pytest.mark.parametrize(
    ("header", "subject"),
    [
        ("[PATCH] fix it", "fix it"),
        ("[PATCH v2 10/12] fix it", "fix it"),
        ("fix it", "fix it"),
        ("[PATCH] [core] fix it", "[core] fix it"),
        ("=?UTF-8?q?[PATCH=201/2]=20f=C3=BCr?=", "für"),
        ("=?UTF-8?B?W1BBVENIXSBmw7xy?=", "für"),
        ("=?ISO-8859-1?Q?f=FCr?=", "für"),
        ("[PATCH] =?UTF-8?q?f=C3=BC?=\n =?UTF-8?q?r=20x?=", "für x"),
        ("[PATCH] für", "für"),
        ("[PATCH] two\n  lines\n\tand more", "two lines and more"),
        ("[PATCH] 2 + 2 =? 4", "2 + 2 =? 4"),
        (Header(f"[PATCH] {LONG}", "utf-8").encode(), LONG.strip()),
    ],
)
def test_subjects(header: str, subject: str) -> None:
    text = f"From: =?UTF-8?q?J=C3=B6rg?= <j@invalid.example>\nDate: today\nSubject: {header}\n\n{STAT}{DIFF}"
    patch = read_patch("1.patch", text.encode())
    assert patch.subject == subject
    assert patch.author == "Jörg <j@invalid.example>"
    assert (patch.body, patch.cases) == ("", ())


@pytest.mark.parametrize(
    "header", ["=?x-unheard-of?q?abc?=", "=?UTF-8?q?=FF?=", "=?UTF-8?b?YWJjZ?=", "ü =?UTF-8?q?a?="]
)
def test_a_header_that_cannot_be_decoded_is_bad_input_or_shown_as_it_is(header: str) -> None:
    text = f"From: a\nDate: b\nSubject: {header}\n\n{STAT}{DIFF}"
    try:
        assert read_patch("1.patch", text.encode()).subject
    except BadInput as error:
        assert "1.patch" in str(error) and "Subject" in str(error)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a patch"),
        (MAIL.encode(), "not a patch"),
        ((MAIL + STAT).encode(), "not a patch"),
        (DIFF.encode(), "no Subject header"),
        ((MAIL.replace("Subject:", "Topic:") + STAT + DIFF).encode(), "no Subject header"),
        ((MAIL.replace("From: H", "Von: H") + STAT + DIFF).encode(), "no From header"),
        ((MAIL.replace("Date:", "Datum:") + STAT + DIFF).encode(), "no Date header"),
        ((MAIL + STAT + DIFF).encode("latin-1"), "not UTF-8 at byte"),
        ((MAIL + STAT + DIFF).encode("utf-16"), "not a patch"),
    ],
)
def test_no_patch(content: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=rf"^0001-x\.patch: .*{message}"):
        read_patch("0001-x.patch", content)


PATCHES = ("0001-early-init.patch", "0002-init.patch", "0010-init.patch-more.patch", "plain.patch")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("1", 0),
        ("0001", 0),
        ("001", 0),
        ("2", 1),
        ("10", 2),
        ("0002-init.patch", 1),
        ("early", 0),
        ("more", 2),
        ("plain", 3),
        ("plain.patch", 3),
        ("0010-", 2),
    ],
)
def test_resolve_patch(wanted: str, found: int) -> None:
    assert resolve_patch(wanted, PATCHES) == PATCHES[found]


@pytest.mark.parametrize(("wanted", "count"), [("3", 0), ("0", 0), ("init", 3), ("nothing", 0), ("", 4)])
def test_none_or_several_patches(wanted: str, count: int) -> None:
    with pytest.raises(BadInput, match=f"names {count} patches; the series has 0001-early-init.patch, 0002"):
        resolve_patch(wanted, PATCHES)


def test_an_exact_name_wins_over_a_part_of_another() -> None:
    assert resolve_patch("a.patch", ("aa.patch", "a.patch")) == "a.patch"
