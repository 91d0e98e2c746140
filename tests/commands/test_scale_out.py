# SPDX-License-Identifier: Apache-2.0
"""`matrix` and `bisect` on workers of a Dask scheduler: real processes on this machine, each with caches of its own."""

from __future__ import annotations

import shutil
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from bench import wait_for
from hunting_ground import RELEASES, UNMASK, Ground, Ran, interrupt
from index_server import IndexServer
from scale import Scale, checked, held, listening, plain_scheduler

CASES = ("--cases", "plain,never,fogged,arrived,masked")
# What makes two rows the same: everything but how long it took and where it was known.
SAME = ("case", "revision", "series", "device", "verdict", "evidence", "tree", "environment", "expected", "repetitions")


def cells(done: Ran) -> list[dict[str, Any]]:
    """The rows of a matrix or a hunt with `--json`."""
    return [{key: probe[key] for key in SAME} for probe in done.json["probes"]]


def local(scale: Scale, *words: str | Path) -> Ran:
    """The same matrix on this machine, on a ground that knows nothing."""
    return checked(scale.ground("local").run("matrix", *words, "--json"))


@pytest.mark.slow
def test_two_workers_give_the_cells_of_the_local_run_and_the_store_keeps_them(scale: Scale) -> None:
    scale.client.series("mend", "5.1.0", UNMASK)
    scale.start("one", "two")
    words = (*CASES, "--devices", "cpu,meta", "--series", "mend")
    far = scale.matrix(*words)
    here = local(scale, *words)
    assert cells(far) == cells(here)
    assert len(cells(far)) == 2 * 2 * 5 * len(RELEASES)
    assert far.status == here.status
    workers = far.json["workers"]
    assert set(workers["answered"]) == {"one", "two"}
    assert sum(workers["answered"].values()) == far.json["probes_run"] == here.json["probes_run"]
    assert (workers["reruns"], workers["refused"], workers["unfit"]) == (0, {}, {})
    again = checked(scale.client.run("matrix", *words, "--json"))
    assert again.json["probes_run"] == 0
    assert cells(again) == cells(far)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells where a process listens")
def test_nothing_listens_on_every_network(scale: Scale) -> None:
    scale.start("one")
    for process in (scale.client.started[0], scale.processes["one"]):
        assert listening(process.pid) == {"0100007F"}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_worker_that_is_killed_or_ended_loses_nothing(scale: Scale, number: signal.Signals) -> None:
    case = held(scale.folder / "held", "5.2.1")
    words = ("--cases", "held,never", *case.words)
    scale.start("one", "two")
    process = scale.client.start("matrix", *words, *scale.words, "--json")
    wait_for(lambda: "5.2.1" in case.begun, 60)
    victim = scale.at(case.begun["5.2.1"][0])
    scale.processes[victim].send_signal(number)
    wait_for(lambda: len(case.begun["5.2.1"]) == 2, 60)
    assert scale.at(case.begun["5.2.1"][1]) != victim
    scale.processes[victim].communicate(timeout=60)
    assert scale.processes[victim].returncode == (0 if number == signal.SIGINT else -signal.SIGKILL)
    case.let_go()
    out, err = process.communicate(timeout=120)
    far = checked(Ran(process.returncode, out, err))
    assert f"worker {victim} is gone; held on 5.2.1 (cpu) is run again by another" in err
    assert far.json["workers"]["reruns"] == 1
    assert far.json["not_run"] == []
    assert {release: len(places) for release, places in case.begun.items() if len(places) > 1} == {"5.2.1": 2}
    assert cells(far) == cells(local(scale, *words))
    assert checked(scale.client.run("matrix", *words, "--json")).json["probes_run"] == 0


@pytest.mark.slow
def test_a_worker_that_cannot_build_an_environment_is_told_and_others_run_its_cells(scale: Scale) -> None:
    poor = scale.ground("poor")
    _take_environments(poor)
    scale.start("poor", "rich")
    far = scale.matrix(*CASES)
    assert cells(far) == cells(local(scale, *CASES))
    assert "worker poor cannot run" in far.err and "could not be built" in far.err
    assert "could not be built" in far.json["workers"]["unfit"]["poor"]


@pytest.mark.slow
def test_without_any_that_can_its_cells_are_no_verdict(scale: Scale) -> None:
    _take_environments(scale.ground("poor"))
    scale.start("poor")
    far = scale.matrix("--cases", "never", "--releases", "5.0.0,5.1.0")
    assert far.status in (1, 5)
    assert {probe["verdict"] for probe in far.json["probes"]} <= {"untestable", "harness-error"}
    assert all("could not be built" in probe["evidence"]["message"] for probe in far.json["probes"])
    assert far.json["probes_run"] == 0


def _take_environments(ground: Ground) -> None:
    """A ground without environments, and without what they are made of, except torch."""
    shutil.rmtree(ground.cache / "envs")
    links = ground.here / "links"
    links.mkdir()
    shutil.copy(ground.wheels / "torch-2.13.0-py3-none-any.whl", links)
    ground.environ["UV_FIND_LINKS"] = str(links)
    ground.environ["UV_CACHE_DIR"] = str(ground.here / "uv")


@pytest.mark.slow
def test_a_worker_that_is_not_like_the_asker_is_refused_by_name(scale: Scale) -> None:
    scale.ground("plain")
    scale.client.series("mend", "5.1.0", UNMASK)
    other = scale.ground("other")
    pins = other.root / "upstream" / "transformers.toml"
    pins.write_text(pins.read_text(encoding="utf-8") + "\n# another\n", encoding="utf-8")
    scale.start("other")
    words = ("--cases", "masked", "--releases", "5.0.0..5.1.0")
    alone = scale.matrix(*words)
    assert alone.status == 5
    assert "no worker" in alone.err and "other: its pins differ" in alone.err
    scale.start("plain")
    far = scale.matrix(*words)
    assert far.json["workers"]["refused"] == {"other": "its pins differ"}
    assert far.json["workers"]["answered"] == {"plain": 2}
    # Its patches differ too, which matters where a series is applied.
    patched = scale.matrix(*words, "--series", "mend")
    assert patched.status == 5
    assert "plain: its patches differ" in patched.err


@pytest.mark.slow
@pytest.mark.parametrize("late", [False, True])
def test_an_interrupt_keeps_what_is_done(scale: Scale, late: bool) -> None:
    case = held(scale.folder / "held", "5.2.0")
    words = ("--cases", "held", *case.words)
    scale.start("one")
    process = scale.client.start("matrix", *words, *scale.words, "--json")
    wait_for(lambda: "5.2.0" in case.begun, 60)
    if late:
        # A worker that comes later is taken; here nothing is left for it but what the other one holds.
        scale.start("two")
    stopped = checked(interrupt(process))
    assert stopped.status == 130
    done = {probe["revision"] for probe in stopped.json["probes"]}
    assert done == {"5.0.0", "5.1.0"}
    case.let_go()
    local_run = checked(scale.client.run("matrix", *words, "--json"))
    assert local_run.json["probes_run"] == len(RELEASES) - len(done)


@pytest.mark.slow
def test_a_hunt_finds_what_it_finds_here_over_releases_and_commits(scale: Scale) -> None:
    scale.start("one")
    words = ("mended", "--find", "fixed", "--good", "5.7.0", "--bad", "5.0.0", "--repo", scale.client.repo, "--json")
    far = checked(scale.client.run("bisect", *words, *scale.words))
    assert (far.status, scale.client.number(far.change["first_good"])) == (0, 14)
    assert far.json["workers"]["answered"] == {"one": far.json["probes_run"]}
    here = checked(scale.client.run("bisect", *words))
    assert here.json["probes_run"] == 0
    assert here.json["changes"] == far.json["changes"]
    assert cells(here) == cells(far)
    # Several at a time ask in an order of their own, and find the same.
    scale.start("two")
    both = checked(scale.client.run("bisect", *words, *scale.words, "--fresh"))
    assert both.change == far.change
    assert set(both.json["workers"]["answered"]) == {"one", "two"}


@pytest.mark.slow
def test_a_script_travels_with_its_hunt(scale: Scale) -> None:
    scale.client.write("other.py", "from transformers import plain\n")
    scale.client.write("mine.py", "import other\nother.plain.use()\n")
    scale.start("one")
    far = checked(scale.client.hunt("mine.py", "--good", "5.0.0", "--bad", "5.7.0", *scale.words))
    assert far.change["candidates"] == ["5.4.0"]
    scale.client.write("stop.py", "import sys\nsys.exit(200)\n")
    stopped = scale.client.hunt("stop.py", "--good", "5.0.0", "--bad", "5.7.0", *scale.words)
    assert (stopped.status, stopped.json["error"]["kind"]) == (5, "told to stop")


@pytest.mark.slow
def test_a_scheduler_that_knows_nothing_of_headwater_will_do(
    ground: Ground, ground_template: Path, tmp_path: Path
) -> None:
    scale = Scale(ground, ground_template, tmp_path, plain_scheduler(ground, tmp_path))
    try:
        scale.start("one")
        far = scale.matrix("--cases", "never")
        assert (far.status, far.json["workers"]["answered"]) == (0, {"one": len(RELEASES)})
    finally:
        scale.end()


@pytest.mark.slow
def test_a_scheduler_that_goes_ends_the_workers_and_what_is_left_is_no_verdict(scale: Scale) -> None:
    case = held(scale.folder / "held", "5.2.0")
    scale.start("one")
    process = scale.client.start("matrix", "--cases", "held", *case.words, *scale.words, "--json")
    wait_for(lambda: "5.2.0" in case.begun, 60)
    scale.client.started[0].send_signal(signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    far = checked(Ran(process.returncode, out, err))
    assert far.status == 5
    left = [probe for probe in far.json["probes"] if probe["verdict"] == "harness-error"]
    assert len(left) == len(RELEASES) - 2
    assert all("is gone" in probe["evidence"]["message"] for probe in left)
    scale.processes["one"].communicate(timeout=60)
    assert scale.processes["one"].returncode == 0


@pytest.mark.slow
def test_what_is_taken_is_not_given_twice(scale: Scale) -> None:
    scale.start("one")
    port = scale.address.rpartition(":")[2]
    again = checked(scale.ground("again").run("worker", scale.address, "--name", "one"))
    assert (again.status, again.out) == (5, "")
    assert "does not take the worker one" in again.err and "name taken" in again.err
    other = checked(scale.client.run("scheduler", "--port", port))
    assert other.status == 5
    assert f"no scheduler can listen at 127.0.0.1:{port}" in other.err
    far = scale.matrix("--cases", "never", "--releases", "5.0.0")
    assert (far.status, far.json["workers"]["answered"]) == (0, {"one": 1})


@pytest.mark.slow
def test_what_is_no_scheduler(ground: Ground, index_server: IndexServer) -> None:
    words = ["--cases", "never", "--executor", "dask", "--scheduler"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        done = checked(ground.run("matrix", *words, f"127.0.0.1:{free.getsockname()[1]}"))
    assert (done.status, "Connection refused" in done.err) == (5, True)
    other = index_server.url().removeprefix("http://").partition("/")[0]
    done = checked(ground.run("matrix", *words, f"tcp://{other}"))
    assert (done.status, f"no Dask scheduler answers at tcp://{other} (timed out)" in done.err) == (5, True)
    done = checked(ground.run("matrix", *words, "tls://127.0.0.1:9"))
    assert (done.status, "needs certificates" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--executor", "dask"], "go together"),
        (["--scheduler", "tcp://127.0.0.1:9"], "go together"),
        (["--executor", "dask", "--scheduler", "nonsense://127.0.0.1"], "reads tcp://HOST:PORT"),
    ],
)
def test_what_cannot_be_meant(ground: Ground, words: Sequence[str], told: str) -> None:
    for command in (["matrix", "--cases", "never"], ["bisect", "plain", "--good", "5.0.0", "--bad", "5.7.0"]):
        done = checked(ground.run(*command, *words))
        assert done.status == 2, done.err
        assert told in done.err


def test_without_the_extra_its_name_is_told(ground: Ground) -> None:
    hidden = ground.here / "hidden" / "distributed"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('not installed')\n", encoding="utf-8")
    ground.environ["PYTHONPATH"] = f"{hidden.parent}:{ground.surroundings['PYTHONPATH']}"
    words = (["matrix", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:9"], ["worker", "tcp://127.0.0.1:9"])
    for command in (*words, ["scheduler", "--port", "0"]):
        done = checked(ground.run(*command))
        assert done.status == 2
        assert "headwater[dask]" in done.err
