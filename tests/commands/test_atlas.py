# SPDX-License-Identifier: Apache-2.0
"""`headwater atlas` on a small library of which all is known: what is measured, told, written and refused."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hunting_ground import RELEASES, Ground, interrupt

HEAD = "# Mine.\nschema = 1\n"


def entry(case: str, verdict: str, first: str, last: str) -> str:
    return f'\n[[entry]]\ncase = "{case}"\nverdict = "{verdict}"\nfirst = "{first}"\nlast = "{last}"\n'


PLAIN = entry("plain", "good", "5.0.0", "5.3.0") + entry("plain", "bad", "5.4.0", "5.7.0")


def atlas_of(ground: Ground) -> Path:
    return ground.root / "tests" / "repro" / "atlas.toml"


def cells(found: list[dict[str, Any]]) -> list[tuple[str, str, str | None, str]]:
    return [(one["case"], one["release"], one["recorded"], one["seen"]) for one in found]


def test_what_would_change_is_shown_and_nothing_is_written(ground: Ground) -> None:
    text = HEAD + PLAIN.replace('"5.3.0"', '"5.2.0"').replace('"5.4.0"', '"5.2.1"')
    atlas_of(ground).write_text(text, encoding="utf-8")
    done = ground.run("atlas", "update", "--cases", "plain", "--json")
    assert done.status == 0, done.err
    wrong = ["5.2.1", "5.2.2", "5.3.0"]
    assert cells(done.json["differences"]) == [("plain", release, "bad", "good") for release in wrong]
    assert (done.json["changed"], done.json["written"], done.json["probes_run"]) == (True, False, len(RELEASES))
    assert atlas_of(ground).read_text(encoding="utf-8") == text
    said = ground.run("atlas", "update", "--cases", "plain")
    assert "3 cells differ. --write writes it." in said.out
    assert "11 cells measured, 0 of them by a probe now." in said.out


def test_what_is_written_is_measured_and_does_not_change_again(ground: Ground) -> None:
    first = ground.run("atlas", "update", "--cases", "plain,again", "--write")
    assert first.status == 0, first.err
    text = atlas_of(ground).read_text(encoding="utf-8")
    listed = "".join(f'"{release}", ' for release in RELEASES).rstrip()
    assert f"releases = [\n  {listed}\n]\n" in text
    again = [
        ("good", "5.0.0", "5.1.0"),
        ("bad", "5.2.0", "5.4.1"),
        ("good", "5.5.0", "5.5.0"),
        ("bad", "5.6.0", "5.7.0"),
    ]
    assert text.partition("]\n")[2] == "".join(entry("again", *one) for one in again) + PLAIN
    before = atlas_of(ground).stat().st_mtime_ns
    second = ground.run("atlas", "update", "--cases", "plain,again", "--write", "--json")
    assert (second.json["changed"], second.json["probes_run"]) == (False, 0)
    assert atlas_of(ground).stat().st_mtime_ns == before
    assert ground.run("atlas", "check").status == 0


def test_only_what_the_atlas_does_not_cover_yet(ground: Ground) -> None:
    """A maintenance release that was published later lies inside a range, and was not measured."""
    listed = "".join(f'  "{release}",\n' for release in RELEASES if release not in ("5.2.2", "5.7.0"))
    text = f"{HEAD}releases = [\n{listed}]\n" + PLAIN.replace("5.7.0", "5.6.0")
    atlas_of(ground).write_text(text, encoding="utf-8")
    done = ground.run("atlas", "update", "--new", "--cases", "plain", "--write", "--json")
    assert cells(done.json["differences"]) == [("plain", "5.2.2", None, "good"), ("plain", "5.7.0", None, "bad")]
    assert done.json["probes_run"] == 2
    assert atlas_of(ground).read_text(encoding="utf-8").endswith(PLAIN)
    assert atlas_of(ground).read_text(encoding="utf-8").startswith("# Mine.\nschema = 1\nreleases = [")


def test_gaps_are_told(ground: Ground) -> None:
    atlas_of(ground).write_text(HEAD + PLAIN, encoding="utf-8")
    done = ground.run("atlas", "update", "--cases", "never", "--releases", "5.0.0,5.7.0", "--json")
    gaps = [(gap["first"], gap["last"]) for gap in done.json["gaps"] if gap["case"] == "never"]
    assert gaps == [("5.1.0", "5.6.0")]
    assert not [gap for gap in done.json["gaps"] if gap["case"] == "plain"]
    assert "gap: never: 5.1.0 to 5.6.0 has no verdict" in ground.run(
        "atlas", "update", "--cases", "never", "--releases", "5.0.0,5.7.0"
    ).out  # fmt: skip


def test_what_could_not_be_judged_is_never_written_unsaid(ground: Ground) -> None:
    done = ground.run("atlas", "update", "--cases", "fogged", "--write")
    assert "not judged: fogged on 5.3.0 is untestable (ImportError: nothing there to import)" in done.out
    assert entry("fogged", "untestable", "5.3.0", "5.4.1") in atlas_of(ground).read_text(encoding="utf-8")


def test_a_device_that_is_not_there_is_never_written(ground: Ground) -> None:
    done = ground.run(
        "atlas", "update", "--cases", "plain", "--devices", "xpu", "--releases", "5.7.0", "--write", "--json"
    )
    assert done.status == 5
    [one] = done.json["unwritten"]
    assert (one["case"], one["release"]) == ("plain", "5.7.0")
    assert "plain" not in atlas_of(ground).read_text(encoding="utf-8")


def test_a_check_names_what_no_longer_holds(ground: Ground) -> None:
    atlas_of(ground).write_text(HEAD + PLAIN.replace('"bad"', '"good"'), encoding="utf-8")
    done = ground.run("atlas", "check", "--releases", "5.3.0,5.7.0", "--json")
    assert done.status == 1
    [one] = done.json["broken"]
    assert cells([one]) == [("plain", "5.7.0", "good", "bad")]
    assert one["evidence"]["message"] == "the cache broke at 8"
    assert done.json["held"] == 1
    said = ground.run("atlas", "check", "--releases", "5.3.0,5.7.0")
    assert "RuntimeError: the cache broke at 8" in said.out
    assert "1 of 2 recorded cells hold." in said.out


def test_a_check_of_nothing_is_refused(ground: Ground) -> None:
    done = ground.run("atlas", "check", "--cases", "never")
    assert done.status == 2
    assert "the atlas records nothing of these" in done.err


def test_the_commit_of_a_change_over_that_moved_is_told(ground: Ground) -> None:
    change = f'\n[[change]]\ncase = "plain"\nfind = "introduced"\nrelease = "5.3.0"\ncommit = "{"a" * 40}"\n'
    wrong = entry("plain", "good", "5.0.0", "5.2.2") + entry("plain", "bad", "5.3.0", "5.7.0")
    atlas_of(ground).write_text(HEAD + wrong + change, encoding="utf-8")
    done = ground.run("atlas", "update", "--cases", "plain")
    assert done.status == 1
    assert "dropped: plain no longer is introduced in 5.3.0, and so its commit aaaaaaaaaaaa goes" in done.out


@pytest.mark.slow
def test_an_interrupted_run_keeps_what_is_known_and_writes_nothing(ground: Ground) -> None:
    slow = (ground.root / "tests" / "repro" / "never.py").read_text(encoding="utf-8")
    slow = slow.replace("    from transformers", "    import time\n    time.sleep(1)\n    from transformers")
    (ground.root / "tests" / "repro" / "never.py").write_text(slow, encoding="utf-8")
    process = ground.start("atlas", "update", "--cases", "never", "--write", "--json")
    store = ground.cache / "store.sqlite3"
    while not store.exists() and process.poll() is None:
        time.sleep(0.05)
    time.sleep(2.5)
    done = interrupt(process)
    assert done.status == 130
    assert (done.json["interrupted"], done.json["written"]) == (True, False)
    known = len(done.json["probes"])
    assert 0 < known < len(RELEASES)
    assert not atlas_of(ground).exists()
    again = ground.run("atlas", "update", "--cases", "never", "--write", "--jobs", "2", "--json")
    assert (again.status, again.json["probes_run"]) == (0, len(RELEASES) - known)


def test_show(ground: Ground) -> None:
    change = f'\n[[change]]\ncase = "plain"\nfind = "introduced"\nrelease = "5.4.0"\ncommit = "{"a" * 40}"\npull = 7\n'
    atlas_of(ground).write_text(HEAD + PLAIN + change, encoding="utf-8")
    said = ground.run("atlas", "show", "plain").out
    assert "5.0.0 to 5.3.0" in said
    assert "introduced by aaaaaaaaaaaa (#7)" in said
    shown = ground.run("atlas", "show", "--json").json
    assert [one["verdict"] for one in shown["entries"]] == ["good", "bad"]
    assert shown["changes"][0]["pull"] == 7
    assert ground.run("atlas", "show", "unheard-of").status == 2


def test_cases_of_a_user_s_own_are_no_matter_of_the_atlas(ground: Ground) -> None:
    (ground.here / "own.py").write_text(
        (ground.root / "tests" / "repro" / "plain.py").read_text(encoding="utf-8").replace('"plain"', '"my-own"'),
        encoding="utf-8",
    )
    ground.environ["HEADWATER_CASES"] = str(ground.here)
    done = ground.run("atlas", "update", "--cases", "my-own")
    assert done.status == 2
    assert "there is no case 'my-own'" in done.err


@pytest.mark.parametrize("words", [["--releases", "5.9.9"], ["--devices", "tpu"], ["--cases", "nope"]])
def test_bad_input(ground: Ground, words: list[str]) -> None:
    assert ground.run("atlas", "update", *words).status == 2


def test_pages_are_up_to_date_with_the_atlas_and_the_cases(headwater: Any) -> None:
    done = headwater("atlas", "page")
    assert done.status == 0, f"run `headwater atlas page --write`: {done.out}{done.err}"


def test_pages_that_are_out_of_date(headwater: Any, whole_workspace: Path, root: Path) -> None:
    (whole_workspace / "README.md").write_text((root / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    done = headwater("atlas", "page", "--json", cwd=whole_workspace)
    assert (done.status, done.json["outdated"]) == (1, ["docs/atlas.md"])
    assert not (whole_workspace / "docs").exists()
    assert headwater("atlas", "page", "--write", cwd=whole_workspace).status == 0
    assert (whole_workspace / "docs" / "atlas.md").read_bytes() == (root / "docs" / "atlas.md").read_bytes()
    assert headwater("atlas", "page", cwd=whole_workspace).status == 0


def test_the_atlas_of_this_repository_is_in_its_own_form(headwater: Any, whole_workspace: Path) -> None:
    before = (whole_workspace / "tests" / "repro" / "atlas.toml").read_text(encoding="utf-8")
    done = headwater("atlas", "update", "--new", "--write", "--json", cwd=whole_workspace)
    assert done.status == 0, done.err
    assert (whole_workspace / "tests" / "repro" / "atlas.toml").read_text(encoding="utf-8") == before
