# SPDX-License-Identifier: Apache-2.0
"""`headwater pr verify`: a bundle that was moved to another workspace with fresh caches repeats, and what is forged is
found, wherever it stands."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hunting_ground import Ground
from sending import Sent, git_files, send, write_series

# What a replay cannot see: it is of the workspace and the moment in which the bundle was made.
FOREIGN = {"times", "headings", "written", "headwater", "schema", "word", "source", "rules"}


def scalars(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every scalar of plain data with its place."""
    if isinstance(data, (dict, list)):
        for key, one in data.items() if isinstance(data, dict) else enumerate(data):
            yield from scalars(one, (*place, key))
    else:
        yield place, data


def other_than(value: Any) -> Any:
    """Something else of the same kind, that is still read."""
    swaps = {"bad": "good", "good": "bad", "passed": "failed", "failed": "passed", "release": "release"}
    if isinstance(value, str):
        return swaps.get(value, value + "0")
    return "forged" if value is None else value + 1


def test_a_moved_bundle_repeats_every_figure(moved: Sent) -> None:
    done = moved.verify()
    assert done.status == 0, done.out
    assert done.json["repeated"] is True
    assert done.json["differences"] == []
    # Two patches on two releases, each with a case and tests, before, with it, and with all.
    assert done.json["probes_run"] == 2 * 2 * 2 * 3
    assert done.json["figures"] > 100
    shown = moved.ground.run("pr", "verify", moved.folder, "--patch", "2")
    assert shown.status == 0, shown.err
    assert "12 probes run." in shown.out
    assert "figures are repeated" in shown.out


def test_forged_figures_are_found(moved: Sent) -> None:
    """All at once, so that one replay tells of each: a verdict, a count of tests, a reason, a tree, a sum."""

    def forge(data: Any) -> None:
        first = data["patches"][0]
        first["lines"][0]["after"]["verdict"] = "bad"
        first["lines"][1]["before"]["tests"][1]["reason"] = "RuntimeError: something worse"
        first["lines"][1]["after"]["tests"].pop()
        first["patch_id"] = "1" * 40
        data["patches"][1]["trees"]["5.2.0"] = "2" * 40
        data["target"]["after_am"] = "3" * 40
        data["cases"]["mended"]["files"]["mended.py"] = "4" * 64
        data["environments"][0]["torch"] = "2.99.0"

    moved.forge(forge)
    done = moved.verify()
    assert done.status == 1
    told = {one["path"]: (one["recorded"], one["seen"]) for one in done.json["differences"]}
    name = "0001-mended-works.patch"
    assert told[f"patches[{name}].lines[mended 5.3.0 cpu].after.verdict"] == ("bad", "good")
    test = "test_sent_mended.py::MendedTest::test_it_works"
    before = f"patches[{name}].lines[tests 5.3.0 cpu].before.tests[{test}].reason"
    assert told[before] == ("RuntimeError: something worse", "RuntimeError: the cache broke at 8")
    assert told[f"patches[{name}].lines[tests 5.3.0 cpu].after.tests[{test}].result"] == ("nothing", "passed")
    assert told[f"patches[{name}].patch_id"][0] == "1" * 40
    assert told["patches[0002-early-works.patch].trees.5.2.0"][0] == "2" * 40
    assert told["target.after_am"][0] == "3" * 40
    assert told["cases.mended.files.mended.py"][0] == "4" * 64
    assert "environments[0]" in told
    assert "EVIDENCE.md" in told
    assert any("recorded on torch 2.99.0" in note for note in done.json["notes"])


@pytest.mark.slow
def test_what_was_left_out_is_replayed_too_and_as_often_as_was_said(ground: Ground) -> None:
    made = send(write_series(ground, ["mended", "early"], "5.3.0"), "--onto", "5.5.0", "--repeat", "2")
    assert "Each probe was made 2 times" in (made.folder / "EVIDENCE.md").read_text(encoding="utf-8")
    (ground.root / "patches" / "mend").rename(ground.root / "elsewhere")
    made.forge(lambda data: data["left_out"][0].update(state="absent", verdicts={"mended": "absent"}))
    done = made.verify()
    told = {one["path"]: (one["recorded"], one["seen"]) for one in done.json["differences"]}
    assert told.pop("left_out[0001-mended.patch cpu].state") == ("absent", "fixed-upstream")
    assert told.pop("left_out[0001-mended.patch cpu].verdicts.mended") == ("absent", "good")
    assert told.keys() == {"EVIDENCE.md"}
    # A patch with a case and tests before, with it and with all, and the case of the one that was left out.
    assert done.json["probes_run"] == 2 * (2 * 3 + 1)
    assert made.verify("--patch", "1").json["probes_run"] == 2 * 2 * 3


def test_forged_in_the_text_alone(moved: Sent) -> None:
    path = moved.folder / "EVIDENCE.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("green: 2 passed", "green: 20 passed"), encoding="utf-8")
    done = moved.verify("--patch", "1")
    assert (done.status, [one["path"] for one in done.json["differences"]]) == (1, ["EVIDENCE.md"])


def test_a_patch_that_was_changed_after_the_evidence(moved: Sent) -> None:
    moved.patches[0].write_bytes(moved.patches[0].read_bytes().replace(b"+    return 8", b"+    return 9"))
    done = moved.verify("--patch", "1")
    assert done.status == 1
    told = {one["path"]: (one["recorded"], one["seen"]) for one in done.json["differences"]}
    name = "0001-mended-works.patch"
    assert f"patches[{name}].sha256" in told
    assert told[f"patches[{name}].lines[tests 5.3.0 cpu].after.verdict"] == ("good", "bad")


def test_patches_that_do_not_apply_are_a_difference(moved: Sent) -> None:
    moved.patches[0].write_bytes(moved.patches[0].read_bytes().replace(b"broke at 8", b"broke at 7"))
    done = moved.verify()
    assert done.status == 1
    assert done.json["differences"][0]["path"] == "patches"
    assert "0001-mended-works.patch" in done.json["differences"][0]["seen"]


def test_what_is_asked_must_be_there(moved: Sent) -> None:
    for words, named in ((["--patch", "3"], "'3'"), (["--device", "meta"], "meta"), (["--device", "tpu"], "tpu")):
        done = moved.verify(*words)
        assert done.status == 2
        assert named in done.json["error"]["message"]
    moved.forge(lambda data: data.update(repeat=10**9))
    done = moved.verify()
    assert (done.status, "1000000000 times" in done.json["error"]["message"]) == (2, True)


@pytest.mark.slow
def test_a_commit_needs_its_repository(ground: Ground) -> None:
    git_files(ground, {"README.md": "more\n"})
    made = send(write_series(ground, ["plain"], "5.7.0"), "--onto", "main", "--repo", ground.repo)
    done = made.verify()
    assert done.status == 2
    assert "--repo" in done.json["error"]["message"]
    done = made.verify("--repo", ground.repo)
    assert (done.status, done.json["differences"]) == (0, [])
    made.forge(lambda data: data["library"][0].update(passed_after=7))
    done = made.verify("--repo", ground.repo)
    told = {one["path"]: (one["recorded"], one["seen"]) for one in done.json["differences"]}
    assert told["library[tests/test_plain.py cpu].passed_after"] == (7, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_any_figure_that_is_forged_is_found(moved: Sent, seed: int) -> None:
    """Ten scalars drawn at random from all that evidence.json says, one after the other; the rest is as it was."""
    whole = (moved.folder / "evidence.json").read_text(encoding="utf-8")
    places = [(place, value) for place, value in scalars(json.loads(whole)) if not FOREIGN & set(place)]
    for place, value in random.Random(seed).sample(places, 10):
        data = json.loads(whole)
        inner = data
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = other_than(value)
        if inner[place[-1]] == value:
            continue
        (moved.folder / "evidence.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
        done = moved.verify()
        # What names a thing that is not there is refused, and by name.
        assert done.status in (1, 2), (place, value, done.out)
