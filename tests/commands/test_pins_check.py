# SPDX-License-Identifier: Apache-2.0
"""`headwater pins check`: every kind of difference is status 1 and a line; and what must never be said, credentials."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bench import Bench

USER, SECRET = "somebody", "hunter2"


def test_all_is_well(imported: Bench) -> None:
    before = imported.files()
    done = imported.run("pins", "check")
    assert done.status == 0
    assert done.out.splitlines() == [
        f"2 pins agree with the index {imported.index.url()}",
        "1 locks satisfy what they require",
        "2 releases in the mirror have the pinned ids",
    ]
    machine = imported.run("pins", "check", "--json").json
    assert (machine["schema"], machine["command"], machine["well"]) == (1, "pins check", True)
    assert machine["lines"] == done.out.splitlines()
    assert imported.files() == before


def test_without_tree_ids_it_says_how_they_are_recorded(bench: Bench) -> None:
    bench.release("5.0.0")
    bench.update()
    done = bench.run("pins", "check")
    assert done.status == 0
    assert "no tree id is recorded yet of 5.0.0: `headwater pins update --trees`" in done.err
    assert "0 releases in the mirror have the pinned ids" in done.out


def new_release(bench: Bench) -> None:
    bench.release("5.2.0")


def yanked(bench: Bench) -> None:
    bench.index.files["transformers-5.0.0-py3-none-any.whl"].entry["yanked"] = "broken"


def un_yanked(bench: Bench) -> None:
    text = bench.text.replace('version = "5.0.0"\n', 'version = "5.0.0"\nyanked = "broken"\n')
    bench.pins_file.write_text(text, encoding="utf-8")


def unlisted(bench: Bench) -> None:
    del bench.index.files["transformers-5.0.0-py3-none-any.whl"]


def other_hash(bench: Bench) -> None:
    bench.index.add("transformers", "5.0.0", {"transformers/__init__.py": b"other"}, ["hub<2"])


def other_lock(bench: Bench) -> None:
    [lock] = (bench.root / "upstream" / "locks").iterdir()
    lock.write_text(lock.read_text(encoding="utf-8").replace("hub==1.5", "hub==2.0"), encoding="utf-8")


def no_group(bench: Bench) -> None:
    bench.pins_file.write_text(bench.text.replace('last = "5.1.0"', 'last = "5.0.0"'), encoding="utf-8")


@pytest.mark.parametrize(
    ("differ", "named"),
    [
        (new_release, ["not pinned yet: 5.2.0", "`headwater pins update`"]),
        (yanked, ["5.0.0 is yanked: broken"]),
        (un_yanked, ["5.0.0 is no longer yanked"]),
        (unlisted, ["5.0.0: the index no longer lists it"]),
        (other_hash, ["transformers-5.0.0-py3-none-any.whl", "sha256"]),
        (other_lock, ["5.0.0: its lock does not satisfy hub<2", "5.1.0: its lock does not satisfy hub<2"]),
        (no_group, ["no environment group holds 5.1.0"]),
    ],
)
def test_a_difference_is_status_1_and_a_line(
    imported: Bench, differ: Callable[[Bench], None], named: list[str]
) -> None:
    differ(imported)
    before = imported.files()
    done = imported.run("pins", "check", "--json")
    assert done.status == 1, done.err
    assert done.json["well"] is False
    said = "\n".join(done.json["lines"])
    for words in named:
        assert words in said
    assert "agree" not in said
    assert imported.files() == before


def test_every_difference_is_listed_at_once(imported: Bench) -> None:
    for differ in (new_release, unlisted, other_lock):
        differ(imported)
    done = imported.run("pins", "check")
    assert done.status == 1, done.err
    for words in ("not pinned yet: 5.2.0", "5.0.0: the index no longer lists it", "5.1.0: its lock does not satisfy"):
        assert [line for line in done.out.splitlines() if words in line]


def test_a_mirror_with_other_ids_is_an_error(imported: Bench) -> None:
    tree = imported.pins.find("5.1.0").tree
    assert tree is not None
    imported.pins_file.write_text(imported.text.replace(tree, "1" * 40), encoding="utf-8")
    done = imported.run("pins", "check", "--json")
    assert done.status == 5
    for named in ("5.1.0", tree, "1" * 40):
        assert named in done.json["error"]["message"]


def test_a_mirror_that_is_shared_may_hold_more_than_the_pins(imported: Bench) -> None:
    text = imported.text
    imported.release("5.2.0")
    imported.update("--trees")
    imported.pins_file.write_text(text, encoding="utf-8")
    done = imported.run("pins", "check")
    assert done.status == 1, done.err
    assert done.out.splitlines() == ["not pinned yet: 5.2.0; `headwater pins update` adds them"]


@pytest.mark.parametrize("words", [("check",), ("update",), ("update", "--trees", "--locks")])
def test_offline_says_what_is_missing(imported: Bench, words: tuple[str, ...]) -> None:
    before = imported.files()
    imported.index.requests.clear()
    done = imported.run("pins", *words, "--offline", "--json")
    assert done.status == 5
    assert done.json["error"]["kind"] == "not cached"
    assert "the list of transformers is not cached" in done.json["error"]["message"]
    assert imported.index.requests == []
    assert imported.files() == before


def told(bench: Bench, *words: str, user: str) -> tuple[int, str]:
    """Run `headwater pins WORDS` with credentials: its status, and all that it said and wrote."""
    done = bench.run("pins", *words, PIP_INDEX_URL=bench.index.url(user))
    caches = [path.read_bytes() for path in bench.cache.rglob("*") if path.is_file()]
    written = b"\n".join([*bench.files().values(), *caches])
    return done.status, f"{done.out}\n{done.err}\n{written.decode(errors='replace')}"


@pytest.mark.parametrize("absolute", [False, True])
def test_credentials_are_used_and_never_said(bench: Bench, absolute: bool) -> None:
    bench.index.credentials, bench.index.absolute = f"{USER}:{SECRET}", absolute
    bench.release("5.0.0")
    for words in (("update", "--trees", "--json"), ("check",), ("check", "--json", "--output", "out.json")):
        status, text = told(bench, *words, user=f"{USER}:{SECRET}")
        assert status == 0, text
        assert SECRET not in text
        assert USER not in text
    assert bench.versions() == ["5.0.0"]


@pytest.mark.parametrize(
    ("answer", "broken"),
    [
        pytest.param(500, "/simple/transformers/", marks=pytest.mark.slow),  # is asked for again and again
        (401, "/simple/transformers/"),
        (403, ".metadata"),
        (401, ".whl"),
        (500, "/simple/hub/"),  # what uv asks for
        (401, "/simple/hub/"),
    ],
)
def test_credentials_are_not_said_when_the_index_fails(bench: Bench, answer: int, broken: str) -> None:
    bench.index.add("transformers", "5.0.0", requires=["hub<2"], metadata_beside=broken != ".whl")
    before = bench.files()
    bench.index.status, bench.index.broken = answer, broken
    words = ("update", "--json", "--output", str(bench.root.parent / "out.json"))
    status, text = told(bench, *words, user=f"{USER}:{SECRET}")
    text += (bench.root.parent / "out.json").read_text(encoding="utf-8")
    assert status == 5, text
    assert str(answer) in text
    assert "harness error" in text
    assert SECRET not in text
    assert USER not in text
    assert bench.files() == before


def test_credentials_that_are_refused_are_not_said(bench: Bench) -> None:
    bench.release("5.0.0")
    bench.index.credentials = "somebody-else:other"
    for words in (("update",), ("check",)):
        status, text = told(bench, *words, user=f"{USER}:{SECRET}%40")
        assert status == 5
        assert "401" in text
        assert SECRET not in text
        assert USER not in text
