# SPDX-License-Identifier: Apache-2.0
"""What stands where a scheduler should, before Dask is asked: tests/commands/test_scale_out.py has real schedulers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from headwater.core.errors import BadInput
from headwater.effects import cluster
from headwater.effects.cluster import SchedulerLost


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket of this machine's, bound and not listening yet."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        yield made


def address_of(listener: socket.socket) -> str:
    return f"tcp://127.0.0.1:{listener.getsockname()[1]}"


def answer(listener: socket.socket, word: bytes) -> threading.Thread:
    """Listen, and say a word to whoever comes first."""

    def serve() -> None:
        listener.listen()
        connection, _ = listener.accept()
        with connection:
            connection.sendall(word)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("address", ["127.0.0.1", "http://127.0.0.1:8786", "tcp://:8786", "tcp://[::1:8786", ""])
def test_what_is_no_address_is_named(address: str) -> None:
    with pytest.raises(BadInput, match=r"the address of a scheduler reads tcp://HOST:PORT, or tls://HOST:PORT"):
        cluster._reach(address, "client", patience=0)


def test_nothing_listens_there(listener: socket.socket) -> None:
    with pytest.raises(SchedulerLost, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:\d+ \(.*refused\)"):
        cluster._reach(address_of(listener), "client", patience=0)
    with pytest.raises(SchedulerLost, match=r"start one: headwater scheduler"):
        cluster._reach("127.0.0.1:99999", "client", patience=0)


def test_something_else_listens_there(listener: socket.socket) -> None:
    listener.listen()
    thread = answer(listener, b"")
    with pytest.raises(SchedulerLost, match=r"\(it hung up without a word\)"):
        cluster._reach(address_of(listener), "client", patience=0)
    thread.join(10)


def test_one_that_comes_late_is_waited_for(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_LOOK", 0.02)
    late = threading.Timer(0.05, answer, [listener, b"\0"])
    late.start()
    cluster._reach(address_of(listener), "worker", patience=20)
    late.join(10)
