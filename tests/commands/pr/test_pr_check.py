# SPDX-License-Identifier: Apache-2.0
"""`headwater pr check`: a complete bundle passes, and each reason has what trips it, and that alone."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest
from hunting_ground import SOURCE, Ground
from packaging.version import Version
from sending import Sent, git_files, patch_of, send, write_series

from headwater.core.pins_text import set_values

GENERATED = "#   This file was automatically generated from src/transformers/modular_mended.py.\n"


slow = pytest.mark.slow
# What a person may have left out: text of a body, what becomes of it, the kind of the reason, and what it names.
LEFT_OUT = [
    ("I looked at it, and this is why.", "<!-- headwater: unwritten: x -->", "body-unwritten", "Who can review?"),
    (
        "# What does this PR do?\n\nI looked at it, and this is why.",
        "# What does this PR do?",
        "body-unwritten",
        "What does this PR do?",
    ),
    ("## Who can review?\n", "## Nobody\n", "body-unwritten", "Who can review?"),
    ("Go-ahead: https://", "Go-ahead: ", "no-go-ahead", "Go-ahead"),
]


def test_a_complete_bundle_passes(sent: Sent) -> None:
    status, kinds, said = sent.check()
    assert (status, kinds) == (0, []), said
    shown = sent.ground.run("pr", "check", sent.folder)
    assert "Nothing speaks against" in shown.out
    assert "by the rules E4, E7, E9, F at 119 characters a line: neither a checkout (--repo) nor an sdist" in shown.out


def test_all_reasons_are_listed(sent: Sent) -> None:
    (sent.folder / "BODY.md").unlink()
    sent.forge(lambda data: data["patches"][0]["lines"][1]["before"].update(verdict="good"))
    sent.patches[0].write_bytes(sent.patches[0].read_bytes().replace(b"return 8", b"return 8;"))
    status, kinds, said = sent.check()
    assert status == 1
    assert set(kinds) == {"body-unwritten", "evidence-older", "other-tree", "not-red-and-green", "style"}, said


def test_the_body_is_the_persons(sent: Sent) -> None:
    path = sent.folder / "BODY.md"
    text = path.read_text(encoding="utf-8")
    for old, new, kind, named in LEFT_OUT:
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        status, kinds, said = sent.check()
        assert (status, set(kinds)) == (1, {kind}), said
        assert named in said


def test_evidence_that_is_older_than_a_patch(sent: Sent) -> None:
    """The message alone: what is probed stays the same."""
    sent.patches[0].write_bytes(sent.patches[0].read_bytes().replace(b"It did not.", b"It did not!"))
    status, kinds, said = sent.check()
    assert (status, kinds) == (1, ["evidence-older"]), said
    assert "0001-mended-works.patch was changed since" in said


def test_evidence_that_is_older_than_the_series(sent: Sent) -> None:
    [path] = (sent.ground.root / "patches" / "mend").glob("*.patch")
    path.write_text(path.read_text(encoding="utf-8").replace("It did not.", "It did not!"), encoding="utf-8")
    status, kinds, said = sent.check()
    assert (status, kinds) == (1, ["evidence-older"]), said
    assert "patches/mend was changed" in said
    path.parent.rename(path.parent.parent / "renamed")
    status, kinds, said = sent.check()
    assert (status, kinds) == (0, []), said
    assert "the workspace has no series mend" in said


def test_evidence_that_is_older_than_a_case_or_its_own_text(sent: Sent) -> None:
    case = sent.folder / "cases" / "mended.py"
    case.write_text(case.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    text = sent.folder / "EVIDENCE.md"
    text.write_text(text.read_text(encoding="utf-8").replace("red: 1 failed", "red: 2 failed"), encoding="utf-8")
    status, kinds, said = sent.check()
    assert (status, kinds) == (1, ["evidence-older", "evidence-older"]), said
    assert "the case mended in the bundle was changed since" in said
    assert "EVIDENCE.md does not say what evidence.json says" in said


def test_evidence_from_another_tree(sent: Sent) -> None:
    other = "1" * 40
    sent.forge(lambda data: data["patches"][0]["trees"].update({"5.3.0": other}))
    status, kinds, said = sent.check()
    assert status == 1
    assert "other-tree" in kinds
    assert "with 0001-mended-works.patch the library's tree is" in said


@slow
def test_main_has_moved_since(ground: Ground) -> None:
    made = send(write_series(ground, ["plain"], "5.7.0"), "--onto", "main", "--repo", ground.repo)
    made.write_body()
    assert made.check("--repo", ground.repo)[:2] == (0, [])
    git_files(ground, {"README.md": "moved\n"}, "Read me")
    status, kinds, said = made.check("--repo", ground.repo)
    assert (status, kinds) == (0, []), said
    assert "the library's tree is the same" in said
    git_files(ground, {"src/transformers/never.py": SOURCE["g"] + "\n"}, "Other library")
    status, kinds, said = made.check("--repo", ground.repo)
    assert (status, kinds) == (1, ["other-tree"]), said
    git_files(ground, {"src/transformers/plain.py": SOURCE["g"]}, "Mended")
    status, kinds, said = made.check("--repo", ground.repo)
    assert (status, kinds) == (1, ["other-tree", "fixed-upstream"]), said
    assert made.check()[0] == 2


def test_tests_that_are_not_red_before(ground: Ground) -> None:
    test = "import unittest\n\n\nclass PlainTest(unittest.TestCase):\n    def test_it(self):\n        pass\n"
    made = send(write_series(ground, ["mended"], "5.3.0", mended=test), "--onto", "5.3.0")
    made.write_body()
    status, kinds, said = made.check()
    assert (status, kinds) == (1, ["not-red-and-green"]), said
    assert "its tests on cpu must be bad below the patch and is good" in said


@slow
def test_a_patch_without_tests(ground: Ground) -> None:
    made = send(write_series(ground, ["mended"], "5.3.0", mended=""), "--onto", "5.3.0")
    made.write_body()
    status, kinds, said = made.check()
    assert (status, kinds) == (1, ["not-red-and-green"]), said
    assert "it brings no test below tests/" in said


@slow
def test_a_patch_that_mends_nothing(ground: Ground) -> None:
    series = write_series(ground, ["mended"], "5.3.0")
    text = series.files[0].read_text(encoding="utf-8")
    series.files[0].write_text(text.replace("+    return 8", "+    raise RuntimeError('the cache broke at 9')"))
    made = send(series, "--onto", "5.3.0")
    made.write_body()
    status, kinds, said = made.check()
    assert (status, set(kinds)) == (1, {"not-red-and-green"}), said
    assert "the case mended on cpu must be good with it and is bad (RuntimeError: the cache broke at 9)" in said


@slow
def test_what_ruff_says_by_upstreams_settings(ground: Ground) -> None:
    """What was there before does not count, and the settings are those of the target."""
    series = write_series(ground, ["plain"], "5.7.0")
    text = series.files[0].read_text(encoding="utf-8")
    series.files[0].write_text(text.replace("+    return 8", "+    return int(8)"), encoding="utf-8")
    git_files(ground, {"pyproject.toml": '[tool.ruff]\nlint.select = ["F"]\n'})
    loose = send(series, "--onto", "main", "--repo", ground.repo, name="loose")
    loose.write_body()
    assert loose.check("--repo", ground.repo)[:2] == (0, [])
    git_files(ground, {"pyproject.toml": '[tool.ruff]\nlint.select = ["F", "UP"]\n'})
    status, kinds, said = loose.check("--repo", ground.repo)
    assert (status, kinds) == (0, []), "it is the evidence's own commit that is looked at"
    strict = send(series, "--onto", "main", "--repo", ground.repo, name="strict")
    strict.write_body()
    status, kinds, said = strict.check("--repo", ground.repo)
    assert (status, kinds) == (1, ["style"]), said
    assert "src/transformers/plain.py: UP018" in said


def give_sdist(sent: Sent, release: str, files: dict[str, str]) -> Path:
    """Pin an sdist of a release, which is in the caches already."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for path, text in files.items():
            member = tarfile.TarInfo(f"transformers-{release}/{path}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    name, content = f"transformers-{release}.tar.gz", made.getvalue()
    place = sent.ground.cache / "wheels" / name
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(content)
    pins = sent.ground.root / "upstream" / "transformers.toml"
    values = {"file": name, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    pins.write_text(set_values(pins.read_text(encoding="utf-8"), {Version(release): {"sdist": values}}), "utf-8")
    return place


@slow
def test_for_a_release_the_settings_are_those_of_its_sdist(sent: Sent) -> None:
    place = give_sdist(sent, "5.3.0", {"pyproject.toml": '[tool.ruff]\nlint.select = ["D100"]\n'})
    status, kinds, said = sent.check()
    assert (status, kinds) == (1, ["style"]), said
    assert "tests/utils/test_sent_mended.py: D100" in said
    assert "by pyproject.toml of 5.3.0" in said
    place.unlink()
    status, kinds, said = sent.check("--offline")
    assert (status, kinds) == (0, []), said
    assert "pyproject.toml of 5.3.0 cannot be had" in said
    assert "by the rules E4, E7, E9, F" in said


@slow
def test_settings_that_ruff_cannot_read(ground: Ground) -> None:
    git_files(ground, {"pyproject.toml": '[tool.ruff]\nlint.select = ["NOPE1"]\n'})
    made = send(write_series(ground, ["plain"], "5.7.0"), "--onto", "main", "--repo", ground.repo)
    made.write_body()
    status, kinds, said = made.check("--repo", ground.repo)
    assert (status, kinds) == (1, ["style"]), said
    assert "whether ruff complains could not be seen" in said


def test_a_generated_file_edited_by_hand(ground: Ground) -> None:
    git_files(ground, {"src/transformers/plain.py": GENERATED + SOURCE["b"]})
    series = write_series(ground, ["plain"], "5.7.0")
    made = send(series, "--onto", "main", "--repo", ground.repo)
    made.write_body()
    status, kinds, said = made.check("--repo", ground.repo)
    assert (status, kinds) == (1, ["generated-file"]), said
    assert "src/transformers/plain.py is generated from src/transformers/modular_mended.py" in said


@slow
def test_a_copy_edited_by_hand(ground: Ground) -> None:
    mark = "# Copied from transformers.never.use\n"
    git_files(ground, {"src/transformers/plain.py": mark + SOURCE["b"]})
    made = send(write_series(ground, ["plain"], "5.7.0"), "--onto", "main", "--repo", ground.repo)
    made.write_body()
    status, kinds, said = made.check("--repo", ground.repo)
    assert (status, kinds) == (1, ["copied-code"]), said
    assert "use in src/transformers/plain.py is a copy of transformers.never.use" in said


def test_fixed_upstream_on_a_release_by_the_atlas(sent: Sent) -> None:
    """Somebody has looked again: the case is good on the target."""
    entry = '[[entry]]\ncase = "mended"\nverdict = "{}"\nfirst = "{}"\nlast = "{}"\n'
    atlas = "schema = 1\n" + entry.format("bad", "5.0.0", "5.2.2") + entry.format("good", "5.3.0", "5.7.0")
    (sent.ground.root / "tests" / "repro" / "atlas.toml").write_text(atlas, encoding="utf-8")
    status, kinds, said = sent.check()
    assert (status, kinds) == (1, ["fixed-upstream"]), said
    assert "fixed upstream in 5.3.0" in said


def test_patches_that_do_not_apply_any_more(sent: Sent) -> None:
    text = sent.patches[0].read_text(encoding="utf-8")
    broken = text.replace("the cache broke at 8", "the cache broke at 7")
    sent.patches[0].write_text(broken, encoding="utf-8")
    status, kinds, said = sent.check()
    assert status == 1
    assert set(kinds) == {"evidence-older", "other-tree"}, said
    assert "the patches do not apply to 5.3.0" in said


def test_what_is_no_evidence_is_bad_input(sent: Sent) -> None:
    for damage in ("", "null", '{"schema": 2}', '{"schema": 1}'):
        (sent.folder / "evidence.json").write_text(damage, encoding="utf-8")
        done = sent.ground.run("pr", "check", sent.folder, "--json")
        assert done.status == 2
        assert "evidence.json" in done.json["error"]["message"]


def test_what_is_no_longer_read_as_a_patch_is_bad_input(sent: Sent) -> None:
    sent.patches[0].write_text("not a mail\n", encoding="utf-8")
    done = sent.ground.run("pr", "check", sent.folder, "--json")
    assert done.status == 2
    assert "0001-mended-works.patch" in done.json["error"]["message"]


def test_a_patch_beside_the_others_is_seen(sent: Sent, tmp_path: Path) -> None:
    extra = patch_of("early", SOURCE["b"], SOURCE["g"], "")
    (sent.folder / "0002-extra.patch").write_text(extra, encoding="utf-8")
    status, kinds, said = sent.check()
    assert status == 1
    assert "evidence-older" in kinds
    assert "0002-extra.patch was added since" in json.loads(said)["reasons"][0]["text"]
