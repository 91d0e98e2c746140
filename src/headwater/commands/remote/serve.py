# SPDX-License-Identifier: Apache-2.0
"""`headwater worker` and `headwater scheduler`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from headwater.commands.context import Context
from headwater.commands.remote.identity import identify
from headwater.commands.remote.station import Station, open_station
from headwater.core.events import Note
from headwater.effects.between_stores import TellingStore
from headwater.effects.cluster import serve_scheduler, serve_worker
from headwater.effects.files import write_atomically
from headwater.effects.probe import ProbeOptions


def be_worker(context: Context, address: str, name: str) -> int:
    """Run what the scheduler at `address` sends until a signal comes or the scheduler is gone; how many probes ran.

    Raises:
        BadInput: no address, or `distributed` is not installed.
        HarnessError: no scheduler answers, or it does not take this worker.
    """
    store = TellingStore(context.cache.store, context.emit)
    prober = context.prober(ProbeOptions(), store)
    station = Station(context, identify(context, name), prober, store)
    # Before it is known to the scheduler: it may be asked at once.
    open_station(station)
    folder = context.exits.enter_context(context.cache.building("worker"))

    def ready(at: str) -> None:
        context.emit(Note(f"worker {name} at {at} is ready for the scheduler at {address}"))

    with ThreadPoolExecutor(1, "station") as pool:
        serve_worker(address, name, folder, pool, ready, prober.abandon)
    return prober.ran


def be_scheduler(context: Context, host: str, port: int, address_file: Path | None) -> str:
    """Be a scheduler until a signal comes; its address.

    Raises:
        BadInput: `distributed` is not installed.
        HarnessError: it cannot listen there.
    """
    addresses: list[str] = []

    def ready(at: str) -> None:
        addresses.append(at)
        if address_file is not None:
            write_atomically(address_file, f"{at}\n")
        context.emit(Note(f"the scheduler listens at {at}; `headwater worker {at}` starts a worker"))

    serve_scheduler(host, port, ready)
    return addresses[0]
