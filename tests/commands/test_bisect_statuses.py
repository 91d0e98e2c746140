# SPDX-License-Identifier: Apache-2.0
"""Which exit status a hunt ends with where it found no change: the ends, what was seen, or the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hunting_ground import MAIN, Ground
from made_log import made_log

pytestmark = pytest.mark.slow

AGAIN = dict(zip(MAIN, ("good", "good", "bad", "bad", "bad", "good", "bad", "bad"), strict=True))
ENDS = ("--good", "5.0.0", "--bad", "5.7.0")
# With as many workers as releases, all of them are seen.
ALL_AT_ONCE = (*ENDS, "--jobs", "8")


def test_more_than_one_change_leaves_all_between_them_open(ground: Ground) -> None:
    done = ground.hunt("again", *ALL_AT_ONCE)
    assert (done.status, done.json["result"], done.json["changes"]) == (4, "inconclusive", [])
    assert "there is more than one change: " in done.notes
    assert "--find all finds them" in done.notes


def told(**told: str) -> dict[str, str]:
    """Verdicts of the releases `v5_3_0` and so on; the others are good up to 5.3.0, and bad from there on."""
    named = {name[1:].replace("_", "."): verdict for name, verdict in told.items()}
    return {release: "good" if release < "5.4.0" else "bad" for release in MAIN} | named


FAULT = "harness-error"
NEVER = dict.fromkeys(MAIN, "good")


@pytest.mark.parametrize(
    ("verdicts", "words", "status", "result"),
    [
        # What the hunt gets around says nothing of how it ends.
        (told(v5_2_0=FAULT), ENDS, 0, "found"),
        (told(v5_3_0=FAULT), ENDS, 4, "range"),
        (AGAIN | {"5.3.0": FAULT}, ALL_AT_ONCE, 4, "inconclusive"),
        (told(v5_6_0=FAULT), ["--find", "all"], 0, "found"),
        # An end that cannot be judged for it.
        (told(v5_0_0=FAULT), ENDS, 5, "inconclusive"),
        (told(v5_7_0=FAULT), ENDS, 5, "inconclusive"),
        (told(v5_7_0=FAULT), [*ENDS, "--confidence", "0.9"], 5, "bad-endpoints"),
        (told(v5_2_0=FAULT) | {"5.2.1": "good"}, ["--good", "5.2.1", "--bad", "5.7.0"], 5, "inconclusive"),
        # An end that may be where the machine failed.
        (NEVER | {"5.1.0": FAULT}, ["--good", "5.0.0"], 5, "bad-endpoints"),
        (dict.fromkeys(MAIN, FAULT), ["--find", "all"], 5, "inconclusive"),
        # Of the library: no failure of the machine.
        (told(v5_0_0="other-failure"), ENDS, 3, "inconclusive"),
        (told(v5_7_0="untestable"), [*ENDS, "--confidence", "0.9"], 3, "bad-endpoints"),
        (NEVER, ["--good", "5.0.0"], 3, "bad-endpoints"),
        (dict.fromkeys(MAIN, "other-failure"), ["--find", "all"], 3, "inconclusive"),
    ],
)
def test_the_machine_is_named_only_where_the_answer_hangs_on_it(
    ground: Ground, verdicts: Mapping[str, str], words: list[str], status: int, result: str
) -> None:
    # The maintenance lines are as the releases that they grew from.
    grown = {"5.2.1": verdicts["5.2.0"], "5.2.2": verdicts["5.2.0"], "5.4.1": verdicts["5.4.0"]}
    log = made_log(ground, "never", grown | dict(verdicts))
    done = ground.hunt("never", *words, "--replay", log)
    assert (done.status, done.json["result"]) == (status, result), done.err
    assert done.json["probes_run"] == 0


STOPS = """\
import sys

from transformers import clouded

try:
    clouded.use()
except RuntimeError:
    sys.exit(1)
except KeyError:
    sys.exit(130)
"""


def test_whatever_ends_a_hunt_its_log_holds_what_was_seen(ground: Ground) -> None:
    ground.write("stops.py", STOPS)
    log = ground.here / "log"
    done = ground.between("stops.py", "5.0.0", "5.7.0", "--log", log)
    assert done.status == 5
    assert "5.3.0 ended with" in done.err
    _head, *lines = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    seen = {line["revision"]: line["verdict"] for line in lines}
    assert {"5.0.0": "good", "5.7.0": "bad"}.items() <= seen.items()
    assert "5.3.0" not in seen
