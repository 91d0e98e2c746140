# SPDX-License-Identifier: Apache-2.0
"""No user and no password survives in anything that is shown or stored."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.core.redaction import redact

# What RFC 3986 allows in userinfo, and `@`, which people forget to escape.
USERINFO = string.ascii_letters + string.digits + "-._~!$&'()*+,;=:%@"
SECRETS = st.text(USERINFO + "é漢", min_size=1, max_size=20)
TEXTS = st.text(st.characters(exclude_characters="@\N{SNOWMAN}\N{UMBRELLA}", exclude_categories=["Cs"]), max_size=40)


@given(
    TEXTS,
    st.sampled_from(["http", "https", "HTTPS", "git+https"]),
    SECRETS,
    SECRETS,
    st.sampled_from(["host", "127.0.0.1:3141", "[::1]:80", "pypi.example.org"]),
    st.sampled_from(["", "/", "/simple/", "/simple/?a=b@c", "#sha256=0"]),
    TEXTS,
)
@example("", "https", "user", "it's", "host", "/", "")
def test_no_secret_survives(
    before: str, scheme: str, user: str, password: str, host: str, tail: str, after: str
) -> None:
    # Marked with characters that stand nowhere else: a secret of one letter is found by chance.
    text = f"{before} {scheme}://\N{SNOWMAN}{user}:\N{UMBRELLA}{password}@{host}{tail} {after}"
    shown = redact(text)
    assert "\N{SNOWMAN}" not in shown and "\N{UMBRELLA}" not in shown
    assert f"{scheme}://***@{host}{tail}" in shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://u:p@host/simple", "https://***@host/simple"),
        ("https://token@host/", "https://***@host/"),
        ("https://u:p@ss@host/", "https://***@host/"),
        ("https://u:it's@host/", "https://***@host/"),
        ("--index-url=https://u:p@host", "--index-url=https://***@host"),
        ("'https://u:p@host/' \"http://v:q@b/\"", "'https://***@host/' \"http://***@b/\""),
        ("https://a:b@h,https://c:d@i", "https://***@h,https://***@i"),
        ("1https://u:p@host", "1https://***@host"),
        ("ssh://git:secret@host/x.git", "ssh://***@host/x.git"),
        ("https://host/a@b", "https://host/a@b"),
        ("https://host?to=a@b", "https://host?to=a@b"),
        ("https://host#a@b", "https://host#a@b"),
        ("https://host and a@b", "https://host and a@b"),
        ("pip 24 (a@b: c)", "pip 24 (a@b: c)"),
        ("", ""),
    ],
)
def test_redact(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize("text", ["a" * 20_000, "a://" * 5_000, "https://" + "a" * 20_000])
def test_long_output_takes_no_time(text: str) -> None:
    start = time.perf_counter()
    assert redact(text) == text
    assert time.perf_counter() - start < 1
