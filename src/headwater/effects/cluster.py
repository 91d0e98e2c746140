# SPDX-License-Identifier: Apache-2.0
"""The door to Dask: a scheduler's workers as a client sees them, and serving as one of the two.

`distributed` is an extra, and takes long to import, so it is imported where something is asked of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import signal
import socket
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from headwater.core.errors import BadInput, HarnessError

_ANSWER = 20.0  # seconds until a scheduler has answered
_GREETING = 5.0  # seconds until it has said the first word
_LOOK = 0.5  # seconds between two looks whether a worker is still there
_ADDRESS = re.compile(r"((?P<protocol>tcp|tls)://)?(?P<host>[^/:\[\]]+|\[[^/\[\]]+\]):(?P<port>\d{1,5})")
_EXTRA = (
    "this needs the package `distributed`, an extra of Headwater: pip install 'headwater[dask]', or run it by "
    "`python scripts/headwater.py`, which installs it"
)


class WorkerLost(HarnessError):
    """The worker that had something to do is gone, or was given up."""

    kind = "worker lost"


class SchedulerLost(HarnessError):
    """No scheduler answers."""

    kind = "scheduler lost"


def _distributed() -> Any:
    """The package.

    Raises:
        BadInput: it is not installed.
    """
    try:
        import distributed
    except ImportError as error:
        raise BadInput(_EXTRA) from error
    # It tells of every connection that ends, in several logs of its own; what matters is told by us.
    for name in [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return distributed


def _reach(address: str, role: str, patience: float) -> None:
    """Look whether a scheduler listens at an address, for `patience` seconds, before Dask tries: that says less, and
    never ends where something else listens.

    Raises:
        BadInput: no address, or one that asks for certificates where none are named.
        SchedulerLost: nothing listens there.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise BadInput(f"{address}: the address of a scheduler reads tcp://HOST:PORT, or tls://HOST:PORT")
    if found["protocol"] == "tls" and _distributed().Security().get_connection_args(role)["ssl_context"] is None:
        raise BadInput(
            f"{address} needs certificates, and Dask's settings name none: DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
            f"DASK_DISTRIBUTED__COMM__TLS__{role.upper()}__CERT and ..._KEY"
        )
    limit = time.monotonic() + patience
    while True:
        try:
            _greet(found["host"].strip("[]"), int(found["port"]), found["protocol"] == "tls")
            return
        except (OSError, OverflowError) as error:
            if time.monotonic() > limit:
                raise _lost(address, error) from error
            time.sleep(_LOOK)


def _greet(host: str, port: int, is_tls: bool) -> None:
    """Connect; a server of Dask's speaks first, unless it speaks TLS."""
    with socket.create_connection((host, port), _ANSWER) as connection:
        connection.settimeout(_GREETING)
        if not is_tls and not connection.recv(1):
            raise ConnectionError("it hung up without a word")


def _lost(address: str, why: object) -> SchedulerLost:
    return SchedulerLost(f"no Dask scheduler answers at {address} ({why}); start one: headwater scheduler")


class Cluster:
    """The workers of a scheduler, as a client of it. A worker is known by its address. Safe to use from threads."""

    def __init__(self, address: str) -> None:
        """Connect.

        Raises:
            BadInput: no address, or `distributed` is not installed.
            SchedulerLost: no scheduler answers there.
        """
        self._address = address
        distributed = _distributed()
        _reach(address, "client", patience=0)
        self._cancelled = distributed.client.CancelledError
        try:
            self._client = distributed.Client(address, timeout=_ANSWER, set_as_default=False)
        except OSError as error:
            raise _lost(address, error) from error

    def close(self) -> None:
        """Leave; what was asked and not answered is given up."""
        self._client.close(timeout=2)

    def workers(self) -> set[str]:
        """The workers that are there now.

        Raises:
            SchedulerLost: the scheduler does not answer any more.
        """
        try:
            if self._client.status == "running":
                return set(self._client.nthreads())
        except OSError:
            pass
        raise SchedulerLost(f"the scheduler at {self._address} is gone")

    def ask_all(self, question: Callable[[], Any], workers: Collection[str]) -> Mapping[str, Any]:
        """What each worker answers at once, while it does other things; an exception where it could not."""
        answers: Mapping[str, Any] = self._client.run(question, workers=list(workers), on_error="return")
        return answers

    def run(self, worker: str, task: Callable[[bytes], bytes], told: bytes, gone: Callable[[], bool]) -> bytes:
        """Have one worker do `task`, and wait; `gone` is asked meanwhile whether to wait no longer.

        Raises:
            WorkerLost: it is gone.
        """
        future = self._client.submit(task, told, workers=[worker], allow_other_workers=False, pure=False)
        try:
            while not gone():
                try:
                    result: bytes = future.result(timeout=_LOOK)
                    return result
                except TimeoutError:
                    continue
                except self._cancelled:
                    break
            raise WorkerLost(f"the worker at {worker} is gone")
        finally:
            future.cancel()


def serve_worker(
    address: str, name: str, folder: Path, pool: ThreadPoolExecutor, ready: Callable[[str], None],
    abandon: Callable[[], None],
) -> None:  # fmt: skip
    """Serve a scheduler as a worker that does one thing at a time, in `pool`, until a signal ends it or the scheduler
    is gone. `folder` is for its own files; `ready` is told its address; `abandon` ends what it is at, once nobody takes
    the answer any more.

    Raises:
        BadInput: no address, or `distributed` is not installed.
        SchedulerLost: no scheduler answers there.
        HarnessError: the scheduler refused it, e.g. because there is one of that name.
    """
    distributed = _distributed()

    def make() -> Any:
        # Whoever reaches a worker runs code there: it listens on the way to its scheduler only, not on every one.
        host = distributed.utils.get_ip(distributed.comm.get_address_host(address))
        # Its memory is not watched: what needs memory is the probes, which have limits of their own.
        return distributed.Worker(
            address, name=name, nthreads=1, executor=pool, local_directory=str(folder), memory_limit=0, host=host,
            dashboard=False, dashboard_address=f"{host}:0", death_timeout=_ANSWER,
        )  # fmt: skip

    _reach(address, "worker", _ANSWER)
    refused = f"the scheduler at {address} does not take the worker {name}"
    asyncio.run(_serve(make, refused, ready, abandon, executor_wait=False))


def serve_scheduler(host: str, port: int, ready: Callable[[str], None]) -> None:
    """Be a scheduler until a signal ends it; `ready` is told its address.

    Raises:
        BadInput: `distributed` is not installed.
        HarnessError: the port is taken, or no such host.
    """
    distributed = _distributed()

    def make() -> Any:
        return distributed.Scheduler(host=host, port=port, dashboard=False, dashboard_address=f"{host}:0")

    asyncio.run(_serve(make, f"no scheduler can listen at {host}:{port}", ready, lambda: None))


async def _serve(
    make: Callable[[], Any], failed: str, ready: Callable[[str], None], abandon: Callable[[], None], **end: bool
) -> None:
    """Run a server of Dask's until a signal comes, and close it with the options `end`; or until it closes by itself,
    when it is to `abandon` what it is at, since it waits for that. `failed` says what it is that does not start."""
    try:
        server = await make()
    except (OSError, RuntimeError, ValueError) as error:
        why = error.__cause__ or error
        raise HarnessError(f"{failed}: {str(why) or type(why).__name__}") from error
    told_to_stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told_to_stop.set)
    ready(server.address)
    while server.status.name in ("running", "paused"):
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(told_to_stop.wait(), _LOOK)
        if told_to_stop.is_set():
            await server.close(**end)
    abandon()
    await server.finished()
