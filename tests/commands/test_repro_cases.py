# SPDX-License-Identifier: Apache-2.0
"""`headwater repro` on cases of which every end is known, on the small library: verdicts, and what is known of them."""

from __future__ import annotations

from bench import wait_for
from case_files import write_case
from hunting_ground import UNMASK, Ground, Ran, interrupt


def repro(ground: Ground, release: str, cases: str, *words: str) -> Ran:
    """`headwater repro RELEASE --case CASES WORDS --json` on the cases in the user's folder."""
    return ground.run("repro", release, "--cases-dir", ground.here, "--case", cases, *words, "--json")


def verdicts(done: Ran) -> dict[str, str]:
    """Verdict by case."""
    return {probe["case"]: probe["verdict"] for probe in done.json["probes"]}


def test_every_other_verdict(ground: Ground) -> None:
    counter = ground.here / "counter"
    write_case(ground.here, "t-other", "raise ValueError('not the bug')")
    write_case(ground.here, "t-import", "from transformers import NoSuchThing")
    write_case(ground.here, "t-import-bug", "import nowhere", "ModuleNotFoundError", "No module named .nowhere.")
    write_case(ground.here, "t-exit", "os._exit(0)")
    write_case(ground.here, "t-network", "pass", extra="# network = true")
    write_case(ground.here, "t-slow", "time.sleep(600)", limit=1)
    turns = f"open({str(counter)!r}, 'a').write('x'); assert os.path.getsize({str(counter)!r}) % 2"
    write_case(ground.here, "t-flaky", turns)
    done = repro(ground, "5.4.0", "t-other,t-import,t-import-bug,t-exit,t-network,t-slow")
    assert done.status == 1, done.err
    assert verdicts(done) == {
        "t-other": "other-failure",
        "t-import": "untestable",
        "t-import-bug": "bad",
        "t-exit": "other-failure",
        "t-network": "unavailable",
        "t-slow": "other-failure",
    }
    assert verdicts(repro(ground, "5.4.0", "t-flaky", "--repeat", "2")) == {"t-flaky": "flaky"}


def test_a_case_that_does_not_apply_to_a_release(ground: Ground) -> None:
    write_case(ground.here, "t-later", "raise KeyError('nothing')", extra='# applies = ">=5.5"')
    ground.series("unmask", "5.1.0", UNMASK)
    for more in ((), ("--series", "unmask")):
        done = repro(ground, "5.1.0", "t-later", *more)
        assert (done.status, verdicts(done), done.json["probes_run"]) == (0, {"t-later": "absent"}, 0), done.err
    assert verdicts(repro(ground, "5.5.0", "t-later")) == {"t-later": "bad"}


def test_a_time_out_is_run_again(ground: Ground) -> None:
    write_case(ground.here, "t-hangs", "time.sleep(600)", limit=1)
    for _attempt in range(2):
        done = repro(ground, "5.4.0", "t-hangs")
        [probe] = done.json["probes"]
        assert probe["evidence"]["type"] == "TimeLimit"
        assert done.json["probes_run"] == 1


def test_which_file_is_run_is_part_of_what_is_known(ground: Ground) -> None:
    """Two cases that import one another have the same files, and still two verdicts."""
    write_case(ground.here, "t-alpha", "import t_beta")
    write_case(ground.here, "t-beta", "import t_alpha; raise KeyError('nothing')")
    assert verdicts(repro(ground, "5.4.0", "t-alpha,t-beta")) == {"t-alpha": "good", "t-beta": "bad"}


def test_variables_that_reach_a_probe_are_part_of_what_is_known(ground: Ground) -> None:
    write_case(ground.here, "t-threads", "assert os.environ.get('OMP_NUM_THREADS') != '1'")
    for number, verdict in (("2", "good"), ("1", "other-failure")):
        ground.environ["OMP_NUM_THREADS"] = number
        assert verdicts(repro(ground, "5.4.0", "t-threads")) == {"t-threads": verdict}


def test_an_interrupted_run_shows_what_it_has(ground: Ground) -> None:
    write_case(ground.here, "t-done", "pass")
    begun = ground.here / "begun"
    write_case(ground.here, "t-sleeps", f"open({str(begun)!r}, 'w').close(); time.sleep(60)", limit=100)
    repro(ground, "5.4.0", "t-done")
    process = ground.start("repro", "5.4.0", "--cases-dir", ground.here, "--case", "t-done,t-sleeps", "--json")
    wait_for(begun.exists)
    done = interrupt(process)
    assert done.status == 130
    assert verdicts(done) == {"t-done": "good"}
