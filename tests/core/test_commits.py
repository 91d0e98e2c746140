# SPDX-License-Identifier: Apache-2.0
"""Commits, read from git's log; pull requests, dates and locations from what people write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.commits import (
    Commit,
    kind_of_location,
    parse_date,
    pull_request_of,
    read_log,
)
from headwater.core.errors import BadInput

SHAS = st.text("0123456789abcdef", min_size=40, max_size=40)
SUBJECTS = st.text(st.characters(exclude_characters="\0\n\r\x1f", exclude_categories=["Cs"]))


@st.composite
def commits(draw: st.DrawFn) -> Commit:
    subject = draw(SUBJECTS)
    date = datetime.fromtimestamp(draw(st.integers(0, 4_000_000_000)), UTC)
    return Commit(draw(SHAS), date, subject, pull_request_of(subject), draw(st.none() | SHAS))


def written(commit: Commit, more_parents: list[str]) -> str:
    parents = " ".join([commit.parent, *more_parents] if commit.parent else [])
    return f"{commit.sha}\x1f{parents}\x1f{int(commit.date.timestamp())}\x1f{commit.subject}"


@given(st.lists(commits()), st.lists(SHAS, max_size=2), st.booleans())
def test_a_log_is_read_back(wanted: list[Commit], more_parents: list[str], ended: bool) -> None:
    text = "\0".join(written(commit, more_parents) for commit in wanted)
    assert read_log(text + ("\0" if ended and wanted else "")) == wanted


@pytest.mark.parametrize(
    ("subject", "number"),
    [
        ("Fix several bugs in `cache_implementation=static` (#46446)", 46446),
        ("fix conversion (fixes #47886) (#47888)", 47888),
        ("preserve the config (#47752) (#47953)  ", 47953),
        ('Revert "Fix something (#46446)"', None),
        ('Revert "Fix something (#46446)" (#46500)', 46500),
        ("Merge pull request #12 from somebody/branch", 12),
        ("see (#12) for more", None),
        ("(#12", None),
        ("#12", None),
        ("", None),
    ],
)
def test_the_pull_request(subject: str, number: int | None) -> None:
    assert pull_request_of(subject) == number


@given(SUBJECTS, st.integers(0, 10**7))
def test_a_squash_merge_always_names_its_pull_request(title: str, number: int) -> None:
    assert pull_request_of(f"{title} (#{number})") in (number, pull_request_of(title + " ("))


@given(st.datetimes(datetime(2018, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)))
def test_dates_are_read_in_utc(date: datetime) -> None:
    assert parse_date(date.isoformat()) == date
    assert parse_date(date.replace(tzinfo=None).isoformat()) == date
    assert parse_date(f"{date:%Y-%m-%d}") == date.replace(hour=0, minute=0, second=0, microsecond=0)
    assert parse_date(f"{date:%Y-%m-%dT%H:%M:%S}+02:00") == date.replace(microsecond=0) - timedelta(hours=2)


@pytest.mark.parametrize("word", ["5.10.1", "main", "2dba8e0495", "20260401", "v5", "2026-4-1", ""])
def test_what_is_no_date(word: str) -> None:
    assert parse_date(word) is None


@pytest.mark.parametrize("word", ["2026-13-01", "2026-02-30", "2026-04-01x", "2026-04-01T25:00"])
def test_what_begins_like_a_date_and_is_none(word: str) -> None:
    with pytest.raises(BadInput, match=f"'{word}' is no date, such as 2026-04-01"):
        parse_date(word)


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("https://git.invalid/a/b.git", "url"),
        ("ssh://git@git.invalid/a", "url"),
        ("git@git.invalid:a/b.git", "url"),
        ("file:///a/b", "url"),
        ("/a/b", "path"),
        ("../b", "path"),
        ("b", "path"),
        ("./odd:name", "path"),
        ("/odd::name", "path"),
        ("~/clone", "path"),
    ],
)
def test_locations(location: str, kind: str) -> None:
    assert kind_of_location(location) == kind


@pytest.mark.parametrize(
    "location",
    [
        "ext::sh -c touch% /tmp/x", "fd::17", "ext::", "::x", "my-helper::x", "--upload-pack=touch x", "-u", "", " ",
        "ext://x", "ftp://x/y", "javascript://x", "ssh://-oProxyCommand=x/y", "-oProxyCommand=x:y", "a@-oProxy:b",
        "/a\nb", "https://a/\0b", "://x",
    ],
)  # fmt: skip
def test_locations_that_could_run_a_command_are_refused(location: str) -> None:
    with pytest.raises(BadInput, match="--repo"):
        kind_of_location(location)


def test_a_refusal_shows_no_password() -> None:
    with pytest.raises(BadInput) as caught:
        kind_of_location("ftp://me:hunter2@host/x")
    assert "hunter2" not in str(caught.value)


def test_a_commit_in_words() -> None:
    commit = Commit("0123456789ab" + "c" * 28, datetime(2026, 5, 1, tzinfo=UTC), "mend", None, None)
    assert str(commit) == "0123456789ab (2026-05-01, mend)"
