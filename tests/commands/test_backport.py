# SPDX-License-Identifier: Apache-2.0
"""`headwater backport` on the small library: what it writes, and that nothing is written where it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import wait_for
from hunting_ground import Ground, Ran, interrupt
from reduced import MEND, counting_case, hunks, laid_out, runs

slow = pytest.mark.slow
HOLDS = "from transformers.parted import colour\n\n\ndef test_colour():\n    assert colour() == 'blue!'\n"
CEASES = """\
import pytest
from transformers import parted


def test_it_breaks():
    with pytest.raises(RuntimeError):
        parted.use()
"""


def carried(ground: Ground, what: str, onto: str, *words: str | Path) -> Ran:
    """`headwater backport WHAT --onto ONTO --json`."""
    done = ground.run("backport", what, "--onto", onto, *words, "--json")
    assert "Traceback" not in done.err, done.err
    return done


def series(ground: Ground) -> list[str]:
    """The series of the workspace."""
    folder = ground.root / "patches"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def refused(ground: Ground, done: Ran, status: int, *said: str) -> None:
    """It ended so, said that, and wrote nothing."""
    assert done.status == status, done.err
    for words in said:
        assert words in done.json["error"]["message"]
    assert series(ground) == []
    assert laid_out(ground) == set()


def suite(ground: Ground, text: str) -> None:
    """A conformance suite of one file."""
    folder = ground.root / "tests" / "conformance"
    folder.mkdir()
    (folder / "test_small.py").write_text(text, encoding="utf-8")


def test_a_series_that_mends_the_release(ground: Ground) -> None:
    done = carried(ground, "parted", "5.4.0")
    assert done.status == 0, done.err
    assert hunks(done.json) == MEND
    assert (done.json["from"], done.json["to"], done.json["onto"]) == ("5.5.0", "5.6.0", "5.4.0")
    assert (done.json["before"]["verdict"], done.json["after"]["verdict"]) == ("bad", "good")
    assert done.json["series"] == "backport-parted"
    [name] = done.json["written"]
    text = (ground.root / "patches" / "backport-parted" / name).read_text(encoding="utf-8")
    # Without a repository upstream's release is what can be named.
    assert "\nOrigin: backport, transformers 5.6.0\n" in text
    assert "\nHeadwater-Case: parted\n" in text
    tested = ground.run("test-patched", "backport-parted", "--case", "parted")
    assert tested.status == 0, tested.out + tested.err


@slow
def test_it_names_the_upstream_commit(ground: Ground) -> None:
    done = carried(ground, "parted", "5.4.0", "--repo", ground.repo, "--as", "mine")
    assert done.status == 0, done.err
    [name] = done.json["written"]
    text = (ground.root / "patches" / "mine" / name).read_text(encoding="utf-8")
    assert f"\nOrigin: backport, {ground.commits[22]}\n" in text
    assert "\nApplied-Upstream: 5.6.0\n" in text


@slow
def test_the_neighbour_itself(ground: Ground) -> None:
    done = carried(ground, "parted", "5.5.0")
    assert done.status == 0, done.err
    assert series(ground) == ["backport-parted"]


@slow
def test_a_person_reads_what_was_written(ground: Ground) -> None:
    done = ground.run("backport", "parted", "--onto", "5.4.0")
    assert "Wrote patches/backport-parted for 5.4.0" in done.out
    assert "Conformance suite: not available" in done.out
    assert "headwater test-patched backport-parted" in done.out


@slow
def test_with_a_conformance_suite(ground: Ground) -> None:
    suite(ground, HOLDS)
    done = carried(ground, "parted", "5.4.0")
    assert done.status == 0, done.err
    assert done.json["conformance"].startswith("no new failure")


@slow
def test_a_conformance_test_that_ceases_to_hold(ground: Ground) -> None:
    suite(ground, CEASES)
    refused(ground, carried(ground, "parted", "5.4.0"), 1, "test_it_breaks", "hold no more")


@slow
def test_a_conformance_suite_that_does_not_come_to_its_end(ground: Ground) -> None:
    suite(ground, "import os\n\n\ndef test_end():\n    os._exit(3)\n")
    refused(ground, carried(ground, "parted", "5.4.0"), 1, "did not come to its end on the unpatched release")


def test_a_series_that_is_there(ground: Ground) -> None:
    folder = ground.root / "patches" / "backport-parted"
    folder.mkdir(parents=True)
    done = carried(ground, "parted", "5.4.0")
    assert done.status == 2
    assert "patches/backport-parted is there already" in done.json["error"]["message"]
    assert list(folder.iterdir()) == []


@slow
@pytest.mark.parametrize(
    ("case", "onto", "said"),
    [
        ("parted", "5.3.0", "parted is good on 5.3.0"),
        ("arrived", "5.3.0", "arrived is absent on 5.3.0"),
        ("plain", "5.4.0", "no fix"),
        # The bug came into the maintenance line alone.
        ("maintained", "5.2.2", "no fix"),
        ("parted", "5.2.2", "no fix"),
        ("parted", "5.9.0", "5.7.0"),
        ("nope", "5.4.0", "nope"),
    ],
)
def test_what_cannot_be_carried(ground: Ground, case: str, onto: str, said: str) -> None:
    refused(ground, carried(ground, case, onto), 2, said)


@slow
def test_a_script_is_no_case(ground: Ground) -> None:
    ground.write("script.py", "from transformers.parted import use\n\nuse()\n")
    refused(ground, carried(ground, "script.py", "5.4.0", "--as", "mine"), 2, "no case")


@slow
def test_a_fix_that_conflicts(ground: Ground) -> None:
    done = carried(ground, "parted", "5.4.1")
    refused(ground, done, 1, "conflicts on 5.4.1", "headwater checkout 5.4.1")


@slow
def test_a_fix_with_which_it_stays_bad(ground: Ground) -> None:
    done = carried(ground, "stubborn", "5.4.0")
    refused(ground, done, 1, "stubborn on 5.4.0 is bad before and bad with the reduced fix")


@slow
def test_a_series_of_ones_own_is_not_carried_along(ground: Ground) -> None:
    done = ground.run("backport", "parted", "--onto", "5.4.0", "--series", "mine")
    assert done.status == 2
    assert "No such option" in done.err


@slow
def test_an_interrupt_writes_nothing(ground: Ground) -> None:
    folder = counting_case(ground, at=10)
    process = ground.start("backport", "counted", "--onto", "5.5.0")
    wait_for(lambda: runs(folder) >= 10)
    stopped = interrupt(process)
    assert stopped.status == 130, stopped.err
    assert series(ground) == []
    assert laid_out(ground) == set()
