# SPDX-License-Identifier: Apache-2.0
"""`headwater pr` on the small library: what a bundle holds, that `git am` takes it, when there is nothing to send."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hunting_ground import Ground, git
from sending import Sent, git_files, send, write_series


def lines_of(sent: Sent) -> dict[tuple[str, str], tuple[str, str, str]]:
    """(patch, what) to verdicts before, after and with all, on the target."""
    return {
        (patch["file"], line["what"]): tuple(line[when]["verdict"] for when in ("before", "after", "whole"))
        for patch in sent.evidence["patches"]
        for line in patch["lines"]
        if line["revision"] == sent.evidence["target"]["revision"]
    }


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a bundle, without the recorded times."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found["evidence.json"] = b"\n".join(line for line in found["evidence.json"].splitlines() if b'"made"' not in line)
    return found


def test_a_bundle_for_a_release(ground: Ground) -> None:
    series = write_series(ground, ["mended", "early"], "5.2.0")
    sent = send(series, "--onto", "5.3.0")
    names = ["0001-mended-works.patch", "0002-early-works.patch"]
    assert [path.name for path in sent.patches] == names
    assert lines_of(sent) == dict.fromkeys(
        [(names[0], "mended"), (names[0], "tests"), (names[1], "early"), (names[1], "tests")], ("bad", "good", "good")
    )
    text = sent.patches[0].read_text(encoding="utf-8")
    assert "\nBug: https://github.com/somebody/transformers/issues/7\n" in text
    for word in ("Headwater-Case", "Origin:", "Applied-Upstream"):
        assert word not in text
    assert sent.evidence["target"]["kind"] == "release"
    assert {path.name for path in (sent.folder / "cases").iterdir()} == {"mended.py", "early.py"}
    assert not (sent.folder / "range-diff.txt").exists()


def test_git_am_takes_it_and_the_tests_turn_green(ground: Ground) -> None:
    """By hand, as a maintainer would: a repository with the release's files, `git am`, and the case by plain python."""
    series = write_series(ground, ["mended", "early"], "5.3.0")
    sent = send(series, "--onto", "5.3.0")
    clone = ground.here / "clone"
    git(ground.here, "clone", "--quiet", str(ground.cache / "transformers.git"), str(clone))
    git(clone, "fetch", "--quiet", "origin", "refs/headwater/releases/5.3.0")
    git(clone, "checkout", "--quiet", "FETCH_HEAD")

    def ran(*words: str) -> int:
        argv = [sys.executable, *words]
        environ = {"PYTHONPATH": str(clone / "src"), "PYTHONDONTWRITEBYTECODE": "1", "PATH": ""}
        return subprocess.run(argv, cwd=clone, env=environ, capture_output=True, check=False).returncode

    run_case = f"import runpy; runpy.run_path({str(sent.folder / 'cases' / 'mended.py')!r})['run']('cpu')"
    assert ran("-c", run_case) == 1
    git(clone, "am", "--quiet", "--keep-cr", *map(str, sent.patches))
    assert git(clone, "rev-parse", "HEAD^{tree}") == sent.evidence["target"]["after_am"]
    assert git(clone, "rev-parse", "HEAD:src/transformers") == sent.evidence["patches"][-1]["trees"]["5.3.0"]
    assert ran("-c", run_case) == 0
    assert ran("-m", "unittest", "tests/utils/test_sent_mended.py", "tests/utils/test_sent_early.py") == 0
    git(clone, "checkout", "--quiet", "HEAD~2", "--", "src")
    assert ran("-m", "unittest", "tests/utils/test_sent_mended.py") == 1


def test_the_evidence_as_people_read_it(ground: Ground) -> None:
    sent = send(write_series(ground, ["mended"], "5.3.0"), "--onto", "5.3.0", "--releases", "5.2.0,5.3.0,5.4.0")
    text = (sent.folder / "EVIDENCE.md").read_text(encoding="utf-8")
    assert "# Evidence: mend on transformers 5.3.0\n" in text
    assert "| case `mended` | 5.3.0 | cpu | bad (RuntimeError: the cache broke at 8) | good | good |" in text
    assert "| case `mended` | 5.2.0 | cpu | bad (RuntimeError: the cache broke at 8) | good | good |" in text
    assert "| `tests/utils/test_sent_mended.py` | 5.3.0 | cpu | red: 1 failed, 1 passed | green: 2 passed |" in text
    assert "- `test_sent_mended.py::MendedTest::test_it_works`: RuntimeError: the cache broke at 8" in text
    assert "`headwater pr verify . --patch 0001`" in text
    assert "Not compared: no repository that holds them was at hand" in text
    assert "Probed on 5.3.0: torch 2.13.0, " in text


def test_the_body_has_headings_and_no_words(ground: Ground) -> None:
    sent = send(write_series(ground, ["mended"], "5.3.0"), "--onto", "5.3.0")
    body = (sent.folder / "BODY.md").read_text(encoding="utf-8")
    headings = [line for line in body.splitlines() if line.startswith("#")]
    assert headings == [
        "# What does this PR do?", "## Code Agent Policy", "## Before submitting", "## Who can review?",
    ]  # fmt: skip
    kept = [line for line in body.splitlines() if line and not line.startswith(("#", "<!-- headwater: unwritten"))]
    assert kept[0] == "Fixes https://github.com/somebody/transformers/issues/7"
    assert kept[1].startswith("Go-ahead: <!-- headwater: unwritten")
    assert kept[2:] == ["Evidence: [EVIDENCE.md](EVIDENCE.md), [evidence.json](evidence.json)"]
    assert "Not read from a checkout" in (sent.folder / "CHECKLIST.md").read_text(encoding="utf-8")


def test_the_same_input_gives_the_same_bytes(ground: Ground) -> None:
    series = write_series(ground, ["mended", "early"], "5.2.0")
    # In processes that order what is hashed in two ways.
    ground.environ["PYTHONHASHSEED"] = "1"
    one = send(series, "--onto", "5.3.0", name="one")
    ground.environ["PYTHONHASHSEED"] = "2"
    two = send(series, "--onto", "5.3.0", "--fresh", name="two")
    assert contents(one.folder) == contents(two.folder)
    again = send(series, "--onto", "5.3.0", name="one")
    assert contents(again.folder) == contents(two.folder)


def test_a_commit_of_a_repository(ground: Ground) -> None:
    """With upstream's rules at hand, and the library's own tests compared."""
    template = "# What does this PR do?\n\nFixes # (issue)\n\n## Mind this\n\n- [ ] Did you mind?\n"
    guide = "# Guide\n\n## Pull requests\n\n- Coordinate first,\n  always.\n\n## Else\n\n- not this\n"
    commit = git_files(ground, {".github/PULL_REQUEST_TEMPLATE.md": template, "CONTRIBUTING.md": guide})
    sent = send(write_series(ground, ["plain"], "5.7.0"), "--onto", "main", "--repo", ground.repo)
    target = sent.evidence["target"]
    assert (target["kind"], target["word"], target["revision"]) == ("commit", "main", commit)
    assert lines_of(sent)["0001-plain-works.patch", "tests"] == ("bad", "good", "good")
    [line] = sent.evidence["library"]
    assert (line["file"], line["before"], line["after"]) == ("tests/test_plain.py", "bad", "good")
    assert line["newly_passing"] == ["tests/test_plain.py::test_use"]
    body = (sent.folder / "BODY.md").read_text(encoding="utf-8")
    assert "## Mind this\n\n- [ ] Did you mind?\n\n<!-- headwater: unwritten" in body
    assert "Fixes # (issue)" not in body
    checklist = (sent.folder / "CHECKLIST.md").read_text(encoding="utf-8")
    assert f"at {commit[:12]}" in checklist
    assert "- [ ] Did you mind?\n" in checklist
    assert "- [ ] Coordinate first, always.\n" in checklist
    assert "not this" not in checklist
    clone = ground.here / "clone"
    git(ground.here, "clone", "--quiet", str(ground.repo), str(clone))
    git(clone, "am", "--quiet", "--keep-cr", *map(str, sent.patches))
    assert git(clone, "rev-parse", "HEAD^{tree}") == target["after_am"]


@pytest.mark.slow
def test_a_remote_gives_what_git_am_needs(ground: Ground) -> None:
    series = write_series(ground, ["plain"], "5.7.0")
    by_path = send(series, "--onto", "main", "--repo", ground.repo, name="path")
    by_url = send(series, "--onto", "main", "--repo", f"file://{ground.repo}", name="url")
    assert contents(by_path.folder) == contents(by_url.folder)


def test_fixed_upstream_is_said_with_what_can_be_had_instead(ground: Ground) -> None:
    write_series(ground, ["mended"], "5.3.0")
    atlas = "schema = 1\n"
    for verdict, first, last in (("bad", "5.0.0", "5.3.0"), ("good", "5.4.0", "5.7.0")):
        atlas += f'[[entry]]\ncase = "mended"\nverdict = "{verdict}"\nfirst = "{first}"\nlast = "{last}"\n'
    (ground.root / "tests" / "repro" / "atlas.toml").write_text(atlas, encoding="utf-8")
    folder = ground.here / "out"
    for words in (["--onto", "5.5.0"], [], ["--onto", "main", "--repo", ground.repo]):
        done = ground.run("pr", "mend", *words, "--output", folder)
        assert done.status == 1, done.err
        assert "fixed upstream in 5.4.0" in done.out
        assert "headwater patch export mend --release 5.3.0" in done.out
        assert "headwater backport mended --onto 5.3.0" in done.out
        assert not folder.exists()
    told = ground.run("pr", "mend", "--onto", "newest", "--json").json
    assert (told["result"], told["fixed_in"], told["evidence"]) == ("fixed-upstream", "5.4.0", None)
    older = ground.run("pr", "mend", "--onto", "5.3.0", "--output", folder)
    assert "fixed upstream in 5.4.0: this bundle is for a maintenance line or a fork of 5.3.0" in older.out


def test_without_an_atlas_the_patch_says_where_it_was_fixed(ground: Ground) -> None:
    write_series(ground, ["mended"], "5.3.0")
    told = ground.run("pr", "mend", "--onto", "5.5.0", "--json")
    assert (told.status, told.json["fixed_in"]) == (1, "5.4.0")


def test_what_the_target_does_not_need_is_left_out(ground: Ground) -> None:
    series = write_series(ground, ["mended", "early"], "5.3.0")
    sent = send(series, "--onto", "5.5.0")
    assert [path.name for path in sent.patches] == ["0001-early-works.patch"]
    left_out = {"file": "0001-mended.patch", "state": "fixed-upstream", "device": "cpu", "verdicts": {"mended": "good"}}
    assert sent.evidence["left_out"] == [left_out]
    assert {path.name for path in (sent.folder / "cases").iterdir()} == {"mended.py", "early.py"}
    text = (sent.folder / "EVIDENCE.md").read_text(encoding="utf-8")
    assert "- 0001-mended.patch: fixed upstream; case `mended` is good there on cpu\n" in text
    done = ground.run("pr", "mend", "--onto", "5.5.0", "--device", "cpu", "--output", sent.folder, "--json")
    assert {**done.json["evidence"], "times": None} == {**sent.evidence, "times": None}


def test_the_former_export_is_compared_and_a_persons_words_stay(ground: Ground) -> None:
    series = write_series(ground, ["mended", "early"], "5.3.0")
    sent = send(series, "--onto", "5.3.0")
    sent.write_body()
    mine = (sent.folder / "BODY.md").read_bytes()
    first = contents(sent.folder)
    text = series.files[0].read_text(encoding="utf-8")
    series.files[0].write_text(text.replace("+    return 8", "+    return 4 + 4"), encoding="utf-8")
    done = ground.run("pr", "mend", "--onto", "5.3.0", "--device", "cpu", "--output", sent.folder, "--json")
    assert done.json["kept"] == ["BODY.md"]
    assert (sent.folder / "BODY.md").read_bytes() == mine
    compared = (sent.folder / "range-diff.txt").read_text(encoding="utf-8")
    assert [line.split()[2] for line in compared.splitlines() if line[:1].isdigit()] == ["!", "="]
    assert "return 4 + 4" in compared
    again = send(series, "--onto", "5.3.0")
    assert (again.folder / "range-diff.txt").read_text(encoding="utf-8") == compared
    for name in first:
        assert (again.folder / name).exists()
    elsewhere = send(series, "--onto", "5.3.0", "--former", again.folder, name="elsewhere")
    unchanged = (elsewhere.folder / "range-diff.txt").read_text(encoding="utf-8")
    assert [line.split()[2] for line in unchanged.splitlines()] == ["=", "="]


def test_nothing_of_a_persons_is_written_over(ground: Ground) -> None:
    series = write_series(ground, ["mended"], "5.3.0")
    folder = ground.here / "out"
    for name in ("BODY.md", "0009-mine.patch"):
        folder.mkdir()
        (folder / name).write_text("mine\n", encoding="utf-8")
        done = ground.run("pr", "mend", "--onto", "5.3.0", "--device", "cpu", "--output", folder)
        assert done.status == 2
        assert str(folder / name) in done.err
        assert [path.name for path in folder.iterdir()] == [name]
        (folder / name).unlink()
        folder.rmdir()
    send(series, "--onto", "5.3.0")
    (ground.root / "patches" / "mend").rename(ground.root / "patches" / "other")
    done = ground.run("pr", "other", "--onto", "5.3.0", "--device", "cpu", "--output", folder)
    assert done.status == 2
    assert "holds a bundle of series mend" in done.err


BAD_WORDS = [
    (["nope"], "there is no series 'nope'"),
    (["mend", "--onto", "5.9.0"], "5.7.0"),
    (["mend", "--onto", "main"], "--repo"),
    (["mend", "--onto", "5.3.0", "--device", "tpu"], "'tpu'"),
    (["mend", "--onto", "5.3.0", "--releases", "9.9.9"], "9.9.9"),
    (["check", "."], "evidence.json"),
    (["verify", "."], "evidence.json"),
    (["check", "nowhere"], "nowhere"),
    (["--nope"], "--nope"),
]


def test_bad_input_is_status_2(ground: Ground) -> None:
    write_series(ground, ["mended"], "5.3.0")
    for words, named in BAD_WORDS:
        done = ground.run("pr", *words)
        assert done.status == 2, done.out
        assert named in done.err
        assert "Traceback" not in done.err


def test_a_patch_that_does_not_apply_is_named(ground: Ground) -> None:
    series = write_series(ground, ["early"], "5.3.0")
    text = series.files[0].read_text(encoding="utf-8").replace("broke at 8", "broke at 7")
    series.files[0].write_text(text, encoding="utf-8")
    done = ground.run("pr", "mend", "--onto", "5.3.0", "--device", "cpu", "--json")
    assert done.status == 1
    assert "0001-early.patch" in done.json["error"]["message"]
