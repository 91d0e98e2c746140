# SPDX-License-Identifier: Apache-2.0
"""Hunts for what says nothing of how its bug is known: scripts, executables and tests, learned at the bad end."""

from __future__ import annotations

import pytest
from hunting_ground import Ground

slow = pytest.mark.slow

SCRIPT = "import transformers.{module} as library\n\nlibrary.use()\n"
STATUS = """\
import sys

from transformers import {module}

try:
    {module}.use()
except RuntimeError as error:
    print("broken:", error)
    sys.exit({status})
except KeyError:
    sys.exit(125)
"""
SHELL = "#!/bin/sh\npython -c 'from transformers.plain import use; use()'\n"
TEST = "from transformers.plain import use\n\n\ndef test_use():\n    assert use() == 8\n\n\ndef test_not():\n    pass\n"
BUG = "learned at 5.7.0: RuntimeError: the cache broke at <number> (transformers/{module}.py in use)"


# The executable every day: on real releases it takes half a minute.
@pytest.mark.parametrize(
    "name",
    [
        "check.sh",
        *(pytest.param(n, marks=slow) for n in ("script.py", "status.py", "test_it.py::test_use", "test_it.py")),
    ],
)
def test_the_same_bug_in_each_form(ground: Ground, name: str) -> None:
    ground.write("script.py", SCRIPT.format(module="plain"))
    ground.write("status.py", STATUS.format(module="plain", status=1))
    ground.write("check.sh", SHELL, executable=True)
    ground.write("test_it.py", TEST)
    done = ground.between(name, "5.0.0", "5.7.0", "--repo", ground.repo)
    assert done.status == 0, done.err
    assert [change["level"] for change in done.json["changes"]] == ["releases", "commits"]
    assert ground.number(done.change["first_bad"]) == 14
    assert "learned at 5.7.0: " in done.notes
    assert set(done.verdicts().values()) == {"good", "bad"}


@slow
def test_what_is_learned_is_said(ground: Ground) -> None:
    ground.write("script.py", SCRIPT.format(module="plain"))
    said = ground.run("bisect", "script.py", "--good", "5.0.0", "--bad", "5.7.0").out
    assert said.count(BUG.format(module="plain")) == 1


@slow
def test_another_failure_at_the_good_end_is_learned_as_absent(ground: Ground) -> None:
    ground.write("script.py", SCRIPT.format(module="arrived"))
    done = ground.between("script.py", "5.0.0", "5.7.0")
    assert (done.status, done.change["candidates"], done.change["verdicts"]) == (0, ["5.4.0"], ["absent", "bad"])
    assert "learned at 5.0.0, taken for absent: AttributeError" in done.notes


@slow
def test_a_missing_good_end_is_found_and_learned_once(ground: Ground) -> None:
    ground.write("script.py", SCRIPT.format(module="plain"))
    done = ground.hunt("script.py", "--bad", "5.7.0")
    assert (done.status, done.change["candidates"]) == (0, ["5.4.0"])
    assert done.notes.count("learned at 5.7.0") == 1


@slow
def test_a_third_failure_is_another(ground: Ground) -> None:
    ground.write("script.py", SCRIPT.format(module="clouded"))
    done = ground.between("script.py", "5.0.0", "5.7.0")
    assert (done.status, done.change["candidates"]) == (4, ["5.3.0", "5.4.0"])
    assert done.verdicts()["5.3.0"] == "other-failure"


@slow
def test_a_script_that_cannot_tell(ground: Ground) -> None:
    ground.write("status.py", STATUS.format(module="clouded", status=1))
    done = ground.between("status.py", "5.0.0", "5.7.0")
    assert (done.status, done.change["candidates"]) == (4, ["5.3.0", "5.4.0"])
    assert done.verdicts()["5.3.0"] == "untestable"


@slow
def test_ends_that_fail_alike(ground: Ground) -> None:
    ground.write("script.py", SCRIPT.format(module="always"))
    done = ground.between("script.py", "5.0.0", "5.7.0")
    assert (done.status, done.json["result"]) == (3, "bad-endpoints")
    assert done.verdicts() == {"5.0.0": "bad", "5.7.0": "bad"}


@slow
def test_a_bad_end_without_a_failure(ground: Ground) -> None:
    ground.write("script.py", SCRIPT.format(module="never"))
    done = ground.between("script.py", "5.0.0", "5.7.0")
    assert done.status == 3
    assert "nothing was learned at 5.7.0: it ended without a failure" in done.notes


NETWORKED = """\
import os

from transformers.plain import use

if os.environ["HF_HUB_OFFLINE"] != "0":
    raise OSError("there is no network")
use()
"""


@slow
def test_a_script_may_use_the_network_where_that_is_allowed(ground: Ground) -> None:
    """What it shows with the network and without are two things, and both are known afterwards."""
    ground.write("script.py", NETWORKED)
    hunts = [ground.between("script.py", "5.0.0", "5.7.0", *words) for words in ([], ["--allow-network"]) * 2]
    for without in (hunts[0], hunts[2]):
        assert (without.status, without.verdicts()) == (3, {"5.0.0": "bad", "5.7.0": "bad"})
    for allowed in (hunts[1], hunts[3]):
        assert (allowed.status, allowed.change["candidates"]) == (0, ["5.4.0"])
    assert "--allow-network" in hunts[1].json["reproduce"]
    assert [hunt.json["probes_run"] for hunt in hunts[2:]] == [0, 0]


@slow
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_status_from_128_on_stops_the_hunt(ground: Ground, jobs: str) -> None:
    ground.write("status.py", STATUS.format(module="plain", status=130))
    done = ground.between("status.py", "5.0.0", "5.7.0", "--jobs", jobs)
    assert done.status == 5
    assert "130" in done.json["error"]["message"]
    assert "128" in done.err


@slow
def test_a_test_of_the_upstream_checkout_stays_while_the_library_moves(ground: Ground) -> None:
    """Before commit 20 the checkout has no such test."""
    done = ground.between("tests/test_plain.py::test_use", "v5.0.0", "5.7.0", "--repo", ground.repo)
    assert done.status == 0, done.err
    assert ground.number(done.change["first_bad"]) == 14
    assert f"the test is taken from commit {ground.commits[-1][:12]}" in done.notes


@slow
def test_all_changes_of_a_script(ground: Ground) -> None:
    ground.write("script.py", SCRIPT.format(module="again"))
    done = ground.hunt("script.py", "--find", "all", "--bad", "5.3.0")
    assert done.status == 0, done.err
    assert [change["find"] for change in done.json["changes"]] == ["introduced", "fixed", "introduced"]


@slow
def test_a_script_that_needs_something_more(ground: Ground) -> None:
    ground.write("script.py", "import no_such_module\n" + SCRIPT.format(module="plain"))
    done = ground.between("script.py", "5.0.0", "5.7.0")
    assert done.status == 3
    assert "it imports no_such_module, and the environment has no such module" in done.notes
