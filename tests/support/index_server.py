# SPDX-License-Identifier: Apache-2.0
"""A package index on this machine with faults to order, and tiny wheels."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import socket
import struct
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from headwater.core.pins import IndexFile

JSON_FORM = "application/vnd.pypi.simple.v1+json"


def make_wheel(name: str, version: str, files: Mapping[str, bytes], requires: Sequence[str] = ()) -> bytes:
    """A pure wheel, the same bytes every time. A file whose name ends in "*" is executable, without the star."""
    head = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}", *(f"Requires-Dist: {r}" for r in requires)]
    info = f"{name}-{version}.dist-info"
    inside = {
        **files,
        f"{info}/METADATA": ("\n".join(head) + "\n\nRequires-Dist: no-header\n").encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: by-hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in inside.items():
            member = zipfile.ZipInfo(path.removesuffix("*"))
            member.external_attr = (0o100755 if path.endswith("*") else 0o100644) << 16
            archive.writestr(member, content)
    return buffer.getvalue()


@dataclass
class Served:
    """One file in the index and what the index says of it."""

    package: str
    content: bytes
    entry: dict[str, object]
    metadata: bytes | None


@dataclass
class IndexServer:
    """The index. Set a field to make it fail.

    `fail_first` answers 500 that many times, then works; `status` is the answer to every path that holds `broken`;
    `fault` spoils the bodies of files: cut, cut without a length, hang-up, wrong, longer; `gate` is passed before a
    file's body is sent, where its path ends in `gated`; `credentials` are asked for where they are set; `absolute`: the
    addresses of files stand in full in its pages.
    """

    port: int = 0
    files: dict[str, Served] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    fail_first: int = 0
    status: int | None = None
    broken: str = ""
    fault: str | None = None
    gate: threading.Barrier | None = None
    gated: str = ""
    credentials: str | None = None
    absolute: bool = False
    form: str = JSON_FORM
    page: bytes | None = None

    def url(self, user: str = "") -> str:
        """The index's address, as PIP_INDEX_URL has it."""
        return f"http://{user and user + '@'}127.0.0.1:{self.port}/simple/"

    def fetched(self, filename: str) -> int:
        """How often a file was asked for."""
        return self.requests.count(f"/files/{filename}")

    def add(
        self, package: str, version: str, files: Mapping[str, bytes] | None = None, requires: Sequence[str] = (),
        *, metadata_beside: bool = True, **entry: object,
    ) -> IndexFile:  # fmt: skip
        """Add a wheel; `entry` replaces what the index says of it, with "_" for "-" in its keys; None takes away."""
        name = package.replace("-", "_")
        inside = files or {f"{name}/__init__.py": f"__version__ = '{version}'\n".encode()}
        content = make_wheel(name, version, inside, requires)
        return self.add_file(package, f"{name}-{version}-py3-none-any.whl", content, metadata_beside, **entry)

    def add_file(self, package: str, name: str, content: bytes, metadata: bool = False, **entry: object) -> IndexFile:
        """Add any file under any name; `metadata`: serve the wheel's METADATA beside it."""
        beside = None
        if metadata:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                beside = archive.read(next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA")))
        sha256 = hashlib.sha256(content).hexdigest()
        said: dict[str, object] = {
            "filename": name, "url": f"../../files/{name}", "hashes": {"sha256": sha256}, "size": len(content),
            "upload-time": "2026-05-01T10:00:00.000000Z", "requires-python": ">=3.10", "yanked": False,
            "core-metadata": {"sha256": hashlib.sha256(beside).hexdigest()} if beside else False,
            **{key.replace("_", "-"): value for key, value in entry.items()},
        }  # fmt: skip
        self.files[name] = Served(package, content, {k: v for k, v in said.items() if v is not None}, beside)
        return IndexFile(name, sha256, len(content))

    def listing(self, package: str) -> bytes | None:
        """The page of a package in the JSON form of the simple index, version 1.1."""
        entries = [dict(served.entry) for served in self.files.values() if served.package == package]
        if not entries:
            return None
        for entry in entries if self.absolute else ():
            entry["url"] = str(entry["url"]).replace("../..", f"http://127.0.0.1:{self.port}")
        return json.dumps({"meta": {"api-version": "1.1"}, "name": package, "files": entries, "versions": []}).encode()

    def answer(self, path: str) -> bytes | None:
        """What lies at a path."""
        if path.startswith("/simple/"):
            return self.page or self.listing(path.strip("/").rpartition("/")[2])
        name = path.removeprefix("/files/")
        if name.endswith(".metadata"):
            served = self.files.get(name.removesuffix(".metadata"))
            return served.metadata if served else None
        return self.files[name].content if name in self.files else None


class _Handler(BaseHTTPRequestHandler):
    index: IndexServer

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        with contextlib.suppress(threading.BrokenBarrierError, ConnectionError):
            self._answer()

    def _answer(self) -> None:
        index = self.index
        index.requests.append(self.path)
        if index.credentials is not None:
            wanted = "Basic " + base64.b64encode(index.credentials.encode()).decode()
            if self.headers.get("Authorization") != wanted:
                return self._send(401, b"who are you?")
        if index.fail_first > 0:
            index.fail_first -= 1
            return self._send(500, b"out of order")
        body = index.answer(self.path)
        if index.status is not None and index.broken in self.path:
            return self._send(index.status, b"out of order")
        if body is None:
            return self._send(404, b"no")
        if self.path.startswith("/simple/"):
            return self._send(200, body, index.form)
        if index.gate is not None and self.path.endswith(index.gated):
            index.gate.wait(timeout=30)
        return self._spoil(body, index.fault)

    def _spoil(self, body: bytes, fault: str | None) -> None:
        if fault == "wrong":
            body = bytes([body[0] ^ 1]) + body[1:]
        elif fault == "longer":
            body += b"more"
        promised = len(body)
        if fault in ("cut", "hang-up", "cut without a length"):
            body = body[: promised // 2]
        self._send(200, body, length=0 if fault == "cut without a length" else promised)
        if fault == "hang-up":
            # Closing with what lingers thrown away resets the connection.
            self.wfile.flush()
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _send(self, status: int, body: bytes, form: str = "application/octet-stream", length: int = -1) -> None:
        self.send_response(status)
        self.send_header("Content-Type", form)
        if length:
            self.send_header("Content-Length", str(len(body) if length < 0 else length))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.close_connection = True


@contextlib.contextmanager
def serving() -> Iterator[IndexServer]:
    """An empty index that answers until the end of the block."""
    index = IndexServer()
    handler = type("Handler", (_Handler,), {"index": index})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        index.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield index
        finally:
            server.shutdown()
            thread.join()
