# SPDX-License-Identifier: Apache-2.0
"""`headwater pins update`: what is new is added, what is recorded never changes silently, all of it or nothing."""

from __future__ import annotations

import hashlib
import re
import threading

import pytest
from bench import HEAD, Bench, wait_for

PINS = "upstream/transformers.toml"
slow = pytest.mark.slow


def test_all_final_releases_from_the_first_on_are_added_in_order(bench: Bench) -> None:
    for version in ("5.10.0", "5.9.0", "5.0.0", "4.57.6", "5.0.0rc1", "5.11.0.dev1", "5.11.0b2"):
        bench.release(version)
    bench.index.add_file("transformers", "transformers-5.9.0.tar.gz", b"sdist")
    bench.index.add_file("transformers", "transformers-5.8.0.tar.gz", b"no wheel beside it")
    said = bench.update()
    assert bench.versions() == ["5.0.0", "5.9.0", "5.10.0"]
    assert re.findall(r"(?m)^added (\S+), uploaded 2026-05-01$", said) == bench.versions()
    pin = bench.pins.find("5.9.0")
    assert pin.sdist is not None
    assert (pin.sdist.file, pin.sdist.sha256) == ("transformers-5.9.0.tar.gz", hashlib.sha256(b"sdist").hexdigest())
    content = bench.index.files["transformers-5.9.0-py3-none-any.whl"].content
    assert (pin.wheel.sha256, pin.wheel.size) == (hashlib.sha256(content).hexdigest(), len(content))
    assert (pin.requires_python, pin.yanked, pin.tree) == (">=3.10", None, None)
    assert bench.text.startswith(HEAD)


def test_what_was_published_late_goes_where_its_version_belongs(bench: Bench) -> None:
    bench.release("5.10.1")
    bench.release("5.12.0")
    bench.update()
    bench.release("5.10.4")
    bench.update()
    assert bench.versions() == ["5.10.1", "5.10.4", "5.12.0"]


def test_consecutive_releases_share_a_lock_as_long_as_it_resolves(bench: Bench) -> None:
    bench.release("5.0.0", ["hub>=1.0,<2"])
    bench.release("5.1.0", ["hub<1.2", "torch>=2; extra == 'torch'"])
    bench.release("5.2.0", ["hub>=2"])
    bench.release("5.3.0", ["hub>=1.5"])
    said = bench.update()
    assert bench.groups() == [("5.0.0", "5.1.0"), ("5.2.0", "5.3.0")]
    assert {name for name in bench.files() if name != PINS} == {f"upstream/{group.lock}" for group in bench.pins.groups}
    assert bench.locked("5.1.0") == {"filelock": "1.0", "hub": "1.0", "hypothesis": "1.0", "pytest": "1.0"}
    assert bench.locked("5.2.0")["hub"] == "2.0"
    for group in bench.pins.groups:
        assert f"{group.lock} serves {group.first} to {group.last}" in said
    for private in ("127.0.0.1", "http", str(bench.root.parent)):
        assert not [name for name, content in bench.files().items() if private.encode() in content]


def test_releases_of_one_minor_version_that_conflict_have_locks_of_their_own(bench: Bench) -> None:
    bench.release("5.0.0", ["hub<2"])
    bench.release("5.0.1", ["hub>=2"])
    bench.update()
    assert bench.groups() == [("5.0.0", "5.0.0"), ("5.0.1", "5.0.1")]
    assert (bench.locked("5.0.0")["hub"], bench.locked("5.0.1")["hub"]) == ("1.5", "2.0")


def test_what_a_person_wrote_stays(bench: Bench) -> None:
    bench.release("5.0.0")
    bench.update()
    text = bench.text.replace("[[release]]\n", "# Above the releases.\n[[release]]\n# In the release.\n")
    text = text.replace("[[environment]]\n", "# Above the groups.\n[[environment]]\n# In the group.\n")
    text = text.replace('last = "5.0.0"\n', 'last = "5.0.0" # beside it\n') + "\n# At the end.\n"
    bench.pins_file.write_text(text, encoding="utf-8")
    bench.release("5.1.0")
    bench.release("5.2.0", ["hub>=2"])
    bench.update("--trees")
    comments = re.compile(r"#.*")
    assert comments.findall(bench.text) == comments.findall(text)
    assert bench.text.startswith(HEAD + "\n# Above the releases.\n[[release]]\n# In the release.\n")
    assert "\n\n# Above the groups.\n[[environment]]\n# In the group.\n" in bench.text
    assert 'last = "5.1.0" # beside it\n' in bench.text
    assert bench.text.endswith("\n\n# At the end.\n")
    before = bench.files()
    bench.update("--trees")
    assert bench.files() == before


def test_a_comment_above_the_releases_stays_there_where_groups_come_first(bench: Bench) -> None:
    bench.release("5.0.0")
    bench.update()
    release, group = (bench.text.index(f"[[{name}]]") for name in ("release", "environment"))
    text = f"{HEAD}\n{bench.text[group:]}\n# Now the releases.\n{bench.text[release:group].rstrip()}\n"
    bench.pins_file.write_text(text, encoding="utf-8")
    bench.release("5.1.0")
    bench.release("5.2.0", ["hub>=2"])
    bench.update()
    assert "\n\n# Now the releases.\n[[release]]\n" in bench.text
    assert bench.groups() == [("5.0.0", "5.1.0"), ("5.2.0", "5.2.0")]


def test_a_second_update_changes_nothing(pinned: Bench) -> None:
    before = pinned.files()
    assert pinned.update() == "nothing new: 2 releases are pinned\n"
    assert pinned.files() == before


def test_a_lock_that_satisfies_a_new_release_stays_as_it_is(pinned: Bench) -> None:
    before = pinned.files()
    pinned.release("5.2.0", ["hub>=1.2"])
    said = pinned.update()
    assert "added 5.2.0, uploaded 2026-05-01" in said
    assert pinned.groups() == [("5.0.0", "5.2.0")]
    assert {name for name, content in pinned.files().items() if content != before.get(name)} == {PINS}
    assert pinned.run("pins", "check").status == 0


def test_a_release_that_no_lock_satisfies_begins_a_group(pinned: Bench) -> None:
    before = pinned.files()
    pinned.release("5.2.0", ["hub>=1.2"])
    pinned.release("5.3.0", ["hub>=2"])
    pinned.release("5.4.0", ["hub>=2"])
    pinned.update()
    assert pinned.groups() == [("5.0.0", "5.2.0"), ("5.3.0", "5.4.0")]
    [new] = pinned.files().keys() - before.keys()
    assert new == f"upstream/{pinned.pins.groups[1].lock}"
    assert {name for name in before if pinned.files()[name] != before[name]} == {PINS}
    assert pinned.locked("5.4.0")["hub"] == "2.0"
    assert pinned.run("pins", "check").status == 0


def test_a_patch_release_that_needs_a_new_group_leaves_the_old_lock_untouched(bench: Bench) -> None:
    bench.release("5.0.0")
    bench.update()
    before = bench.files()
    bench.release("5.0.1", ["hub>=2"])
    bench.update()
    assert bench.groups() == [("5.0.0", "5.0.0"), ("5.0.1", "5.0.1")]
    assert {name for name in before if bench.files()[name] != before[name]} == {PINS}
    assert bench.run("pins", "check").status == 0


@pytest.mark.parametrize(
    ("requires", "groups"),
    [
        ("hub>=1", [("5.0.0", "5.1.1"), ("5.2.0", "5.2.0")]),
        ("hub==1.0", [("5.0.0", "5.1.0"), ("5.1.1", "5.1.1"), ("5.2.0", "5.2.0")]),
    ],
)
def test_a_late_release_between_two_groups_is_served(
    pinned: Bench, requires: str, groups: list[tuple[str, str]]
) -> None:
    pinned.release("5.2.0", ["hub>=2"])
    pinned.update()
    before = pinned.files()
    pinned.release("5.1.1", [requires])
    pinned.update()
    assert pinned.groups() == groups
    assert {name for name in before if pinned.files()[name] != before[name]} == {PINS}
    assert pinned.run("pins", "check").status == 0


def test_locks_made_anew_leave_no_old_ones(pinned: Bench) -> None:
    pinned.release("5.2.0", ["hub==1.0"])
    pinned.update()
    assert pinned.groups() == [("5.0.0", "5.1.0"), ("5.2.0", "5.2.0")]
    listed = pinned.root / "upstream" / "locks" / "imports.txt"
    listed.write_text("hub\n", encoding="utf-8")
    pinned.update("--locks")
    assert pinned.groups() == [("5.0.0", "5.2.0")]
    assert len(pinned.files()) == 3 and listed.is_file(), "the list of imports is no lock"
    assert pinned.locked("5.0.0")["hub"] == "1.0"
    assert pinned.run("pins", "check").status == 0


def test_a_lock_that_cannot_be_resolved_leaves_all_as_it_was(pinned: Bench) -> None:
    before = pinned.files()
    pinned.release("5.2.0", ["hub>=2"])
    pinned.release("5.3.0", ["hub>=99"])
    done = pinned.run("pins", "update")
    assert done.status == 5
    assert "hub>=99" in done.err
    assert "Traceback" not in done.err
    assert pinned.files() == before


def test_a_changed_hash_is_an_error_that_names_both(pinned: Bench) -> None:
    before, old = pinned.files(), pinned.pins.find("5.1.0").wheel
    pinned.index.add("transformers", "5.1.0", {"transformers/__init__.py": b"other"}, ["hub<2"])
    pinned.release("5.2.0")
    done = pinned.run("pins", "update", "--locks", "--trees")
    new = hashlib.sha256(pinned.index.files[old.file].content).hexdigest()
    assert done.status == 5
    assert "harness error" in done.err
    for named in (old.file, old.sha256, new):
        assert named in done.err
    assert pinned.files() == before


def test_a_changed_size_is_an_error_that_names_both(pinned: Bench) -> None:
    before, old = pinned.files(), pinned.pins.find("5.1.0").wheel
    pinned.index.files[old.file].entry["size"] = 12345678
    done = pinned.run("pins", "update")
    assert done.status == 5
    for named in (old.file, old.sha256, str(old.size), "12345678"):
        assert named in done.err
    assert pinned.files() == before


def test_a_source_archive_that_changed_or_went_is_an_error_too(bench: Bench) -> None:
    bench.release("5.0.0")
    bench.index.add_file("transformers", "transformers-5.0.0.tar.gz", b"one")
    bench.update()
    before = bench.files()
    bench.index.add_file("transformers", "transformers-5.0.0.tar.gz", b"two")
    done = bench.run("pins", "update")
    assert done.status == 5
    for content in (b"one", b"two"):
        assert hashlib.sha256(content).hexdigest() in done.err
    del bench.index.files["transformers-5.0.0.tar.gz"]
    done = bench.run("pins", "update")
    assert done.status == 5
    assert "transformers-5.0.0.tar.gz" in done.err
    assert bench.files() == before


def test_a_release_that_the_index_no_longer_lists_is_an_error_that_names_it(pinned: Bench) -> None:
    before = pinned.files()
    del pinned.index.files["transformers-5.0.0-py3-none-any.whl"]
    pinned.release("5.2.0")
    done = pinned.run("pins", "update")
    assert done.status == 5
    assert "5.0.0: the index no longer lists it" in done.err
    assert "5.1.0" not in done.err
    assert pinned.files() == before


def test_a_yank_and_its_end_are_said_and_recorded(pinned: Bench) -> None:
    before = pinned.files()
    entry = pinned.index.files["transformers-5.0.0-py3-none-any.whl"].entry
    reason = 'broken [red]"setup"[/red]'
    entry["yanked"] = reason
    assert f"5.0.0 is yanked: {reason}\n" in pinned.update()
    assert pinned.pins.find("5.0.0").yanked == reason
    assert pinned.update() == "nothing new: 2 releases are pinned\n"
    entry["yanked"] = True
    assert "5.0.0 is yanked: no reason given\n" in pinned.update()
    assert pinned.pins.find("5.0.0").yanked == "no reason given"
    entry["yanked"] = False
    assert "5.0.0 is no longer yanked\n" in pinned.update()
    assert pinned.files() == before


def test_a_new_release_that_is_yanked_already_is_recorded_so(bench: Bench) -> None:
    bench.release("5.0.0", yanked="too early")
    bench.update()
    assert bench.pins.find("5.0.0").yanked == "too early"


def test_trees_are_recorded_once(pinned: Bench) -> None:
    said = pinned.update("--trees")
    ids = {str(pin.version): (pin.tree, pin.mirror_commit) for pin in pinned.pins.releases}
    assert all(re.fullmatch("[0-9a-f]{40}", value or "") for pair in ids.values() for value in pair)
    assert len({value for pair in ids.values() for value in pair}) == 4
    for version, (tree, _commit) in ids.items():
        assert f"{version}: tree {tree}" in said
    before = pinned.files()
    assert pinned.update("--trees") == "nothing new: 2 releases are pinned\n"
    assert pinned.files() == before
    pinned.release("5.2.0")
    said = pinned.update("--trees")
    assert re.findall(r"(?m)^(\S+): tree", said) == ["5.2.0"]
    assert {str(p.version): (p.tree, p.mirror_commit) for p in pinned.pins.releases[:2]} == ids


@pytest.mark.parametrize(
    ("key", "in_mirror"),
    [
        ("tree", True),
        ("mirror_commit", False),
        pytest.param("tree", False, marks=slow),
        pytest.param("mirror_commit", True, marks=slow),
    ],
)
def test_a_wrong_recorded_id_is_an_error_that_names_both(imported: Bench, key: str, in_mirror: bool) -> None:
    right = getattr(imported.pins.find("5.1.0"), key)
    imported.pins_file.write_text(imported.text.replace(right, "1" * 40), encoding="utf-8")
    imported.release("5.2.0")
    before = imported.files()
    other = {} if in_mirror else {"HEADWATER_CACHE": str(imported.root.parent / "other")}
    done = imported.run("pins", "update", "--trees", **other)
    assert done.status == 5
    for named in ("5.1.0", right, "1" * 40):
        assert named in done.err
    assert imported.files() == before


def test_a_late_release_that_its_groups_lock_does_not_satisfy_is_an_error(pinned: Bench) -> None:
    before = pinned.files()
    pinned.release("5.0.1", ["hub>=2"])
    done = pinned.run("pins", "update")
    assert done.status == 5
    assert "5.0.1 stands inside the group 5.0-5.1, whose lock does not satisfy hub>=2" in done.err
    assert "--locks" in done.err
    assert pinned.files() == before


def test_a_release_before_the_first_group_gets_one(pinned: Bench) -> None:
    pinned.pins_file.write_text(
        pinned.text.replace('first = "5.0.0"\ntorch', 'first = "4.0.0"\ntorch'), encoding="utf-8"
    )
    pinned.release("4.57.6")
    said = pinned.update()
    assert pinned.versions() == ["4.57.6", "5.0.0", "5.1.0"]
    assert "locks/4.57-4.57.txt serves 4.57.6 to 4.57.6" in said
    assert (pinned.pins_file.parent / "locks" / "4.57-4.57.txt").is_file()


@pytest.mark.parametrize(
    "gated",
    [
        pytest.param("transformers-5.2.0-py3-none-any.whl.metadata", marks=slow),  # requirements are read
        pytest.param("hub-2.0-py3-none-any.whl.metadata", marks=slow),  # uv resolves
        "transformers-5.2.0-py3-none-any.whl",  # a wheel is downloaded
    ],
)
def test_a_kill_in_the_middle_leaves_all_as_it_was(pinned: Bench, gated: str) -> None:
    before = pinned.files()
    pinned.release("5.2.0", ["hub>=2"])
    gate = pinned.index.gate = threading.Barrier(2)
    pinned.index.gated = f"/{gated}"
    process = pinned.start("pins", "update", "--trees")
    wait_for(lambda: gate.n_waiting == 1)
    process.kill()
    process.communicate()
    gate.abort()
    pinned.index.gate = None
    assert process.returncode == -9
    assert pinned.files() == before
    pinned.update("--trees")
    assert pinned.versions() == ["5.0.0", "5.1.0", "5.2.0"]
    assert pinned.run("pins", "check").status == 0
