# SPDX-License-Identifier: Apache-2.0
"""What a worker answers, in this process: what it lacks, what it refuses, and what it tells of its store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from hunting_ground import UNMASK, Ground

from headwater.commands.context import Context
from headwater.commands.remote.errand import Errand
from headwater.commands.remote.identity import identify
from headwater.commands.remote.station import Station
from headwater.core.events import silent
from headwater.core.verdicts import Verdict
from headwater.effects.between_stores import NotKnown, Recaller, TellingStore, keep
from headwater.effects.probe import ProbeOptions
from headwater.effects.store import Store


@pytest.fixture
def station(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> Iterator[Station]:
    """A worker on a ground, with a series."""
    for name, value in ground.surroundings.items():
        monkeypatch.setenv(name, value)
    ground.series("mend", "5.1.0", UNMASK)
    with ExitStack() as exits:
        context = Context(ground.root, silent, True, exits)
        store = TellingStore(context.cache.store, silent)
        yield Station(context, identify(context, "one"), context.prober(ProbeOptions(), store), store)


def errand(station: Station, case: str, revision: str) -> Errand:
    """A probe that is asked for by somebody who is like the worker."""
    found = station.context.workspace.cases()[case]
    return Errand(
        station.identity, revision, None, (), None, None, found, "cpu", 0, False, ProbeOptions()
    )  # fmt: skip


def test_it_runs_once_and_tells_the_same_again(station: Station) -> None:
    ask = errand(station, "plain", "5.4.0")
    first, again = station.answer(ask), station.answer(ask)
    assert first.row is not None and again.row is not None
    assert (first.row.verdict, first.row.cached, first.ran) == (Verdict.BAD, False, 1)
    assert (again.row.verdict, again.row.cached, again.ran) == (Verdict.BAD, True, 0)
    [kept], [known] = first.kept, again.kept
    assert (known.key, known.outcome) == (kept.key, kept.outcome)
    assert first.complaint is None
    fresh = station.answer(replace(ask, options=ProbeOptions(fresh=True, repeat=3)))
    assert (fresh.ran, len(fresh.kept)) == (3, 3)


def test_what_it_keeps_answers_in_another_store(station: Station) -> None:
    context = station.context
    told = station.answer(errand(station, "plain", "5.4.0"))
    assert told.row is not None and told.row.environment is not None
    context.cache.store.unlink()
    subject = context.subjects.release(context.workspace.pins.find("5.4.0"))
    case = context.workspace.cases()["plain"]
    recaller = Recaller(context.cache, context.environments, "transformers", ProbeOptions(), silent)
    with recaller:
        with pytest.raises(NotKnown):
            recaller.probe(subject, case, "cpu")
        for _ in range(2):
            keep(
                Store(context.cache.store), told.kept[0], case="plain", revision="5.4.0", tree=subject.tree,
                environment=told.row.environment, device="cpu",
            )  # fmt: skip
        assert recaller.probe(subject, case, "cpu") == replace(told.row, cached=True)
        assert Store(context.cache.store).count() == 1
        for other in (("cpu", True), ("cuda", False)):
            with pytest.raises(NotKnown):
                recaller.probe(subject, case, other[0], fresh=other[1])


def test_a_series_is_applied_without_what_is_dropped(station: Station) -> None:
    ask = errand(station, "masked", "5.1.0")
    verdicts = [
        station.answer(replace(ask, series=series, drop=drop)).row
        for series, drop in ((None, ()), ("mend", ()), ("mend", ("0001-mend.patch",)))
    ]
    assert [row.verdict for row in verdicts if row] == [Verdict.OTHER_FAILURE, Verdict.GOOD, Verdict.OTHER_FAILURE]


def test_commits_need_a_repository_that_is_there(station: Station, ground: Ground) -> None:
    ask = errand(station, "plain", ground.commits[14])
    there = station.answer(replace(ask, repo=str(ground.repo)))
    assert there.row is not None and there.row.verdict is Verdict.BAD
    for repo in (None, str(ground.here / "nowhere")):
        row = station.answer(replace(ask, repo=repo)).row
        assert row is not None and row.verdict is Verdict.UNTESTABLE
        complaint = station.answer(replace(ask, repo=repo)).complaint
        assert complaint is not None and (repo or "--repo") in complaint


def test_it_refuses_whom_it_is_not_like(station: Station) -> None:
    def asker(**parts: str) -> Errand:
        other = replace(station.identity, parts={**station.identity.parts, **parts})
        return replace(errand(station, "plain", "5.0.0"), asker=other)

    assert station.answer(asker(pins="others")).refusal == "its pins differ"
    assert station.answer(asker(torch="9.9")).refusal == "its torch is 2.13.0, and here 9.9"
    assert station.answer(asker(patches="others")).refusal is None
    assert station.answer(replace(asker(patches="others"), series="mend")).refusal == "its patches differ"
    assert (station.prober.ran, station.answer(asker(pins="others")).row) == (1, None)


def test_a_worker_is_told_by_all_that_its_verdicts_depend_on(station: Station, ground: Ground) -> None:
    context = Context(ground.root, silent, True, ExitStack())
    assert identify(context, "two").differences(station.identity, with_series=True) == []
    for file in ("upstream/transformers.toml", "upstream/locks/5.0-5.3.txt", "patches/mend/0001-mend.patch"):
        path = ground.root / file
        was = path.read_bytes()
        path.write_bytes(was + b"\n")
        other = identify(Context(ground.root, silent, True, ExitStack()), "two")
        assert len(other.differences(station.identity, with_series=True)) == 1, file
        path.write_bytes(was)
