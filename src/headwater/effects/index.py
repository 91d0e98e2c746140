# SPDX-License-Identifier: Apache-2.0
"""The door to the package index, on pypi-simple. Files are checked against the pins before anything uses them.

pypi-simple and requests take half a second to import, and most runs find everything in the caches: they are imported
on first use.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from packaging.version import InvalidVersion, Version

from headwater.core.errors import DamagedDownload, HarnessError, NotCached
from headwater.core.events import Advanced, Counted, Emit, Finished, Note, Started, silent
from headwater.core.index_settings import certificates, index_url
from headwater.core.pins import IndexFile
from headwater.core.redaction import redact
from headwater.effects.wheels import metadata_of

if TYPE_CHECKING:
    import requests
    from pypi_simple import DistributionPackage, PyPISimple

T = TypeVar("T")

_ATTEMPTS = 4
_TIMEOUT = (20, 60)  # seconds to connect, and between two pieces
_PIECE = 1 << 18
_LARGE = 5_000_000


@dataclass(frozen=True)
class IndexRelease:
    """A final release as the index lists it now. `requires_python` is empty where the index names none."""

    version: Version
    uploaded: datetime
    requires_python: str
    yanked: str | None
    wheel: IndexFile
    sdist: IndexFile | None


class Index:
    """The package index, by the machine's settings. With `offline` every call raises `NotCached`."""

    def __init__(
        self, emit: Emit = silent, offline: bool = False, pause: float = 1.0, attempts: int = _ATTEMPTS
    ) -> None:
        """`pause`: seconds before the first retry; each further one waits twice as long. At most `attempts`."""
        self._emit, self._offline, self._pause, self._attempts = emit, offline, pause, attempts
        self._pages: dict[str, list[DistributionPackage]] = {}

    @cached_property
    def _session(self) -> requests.Session:
        import requests

        session = requests.Session()
        if "@" in (index_url(os.environ) or ""):
            session.auth = self._authorize  # without, requests looks into ~/.netrc
        if certs := certificates(os.environ):
            session.verify = certs
        return session

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Send the credentials of the index's address to the index's host, as pip and uv do: its pages may name files
        there in full, without them."""
        from urllib.parse import unquote, urlsplit

        from requests.auth import HTTPBasicAuth

        index, wanted = urlsplit(self._client.endpoint), urlsplit(request.url or "")
        places = [(address.scheme, address.hostname, address.port) for address in (index, wanted)]
        if index.username and places[0] == places[1]:
            HTTPBasicAuth(unquote(index.username), unquote(index.password or ""))(request)
        return request

    @cached_property
    def _client(self) -> PyPISimple:
        from pypi_simple import ACCEPT_JSON_PREFERRED, PyPISimple

        endpoint = index_url(os.environ)
        options = {"endpoint": endpoint} if endpoint else {}
        return PyPISimple(session=self._session, accept=ACCEPT_JSON_PREFERRED, **options)

    @property
    def name(self) -> str:
        """The index's address without credentials, for messages."""
        return redact(self._client.endpoint)

    def releases(self, package: str) -> list[IndexRelease]:
        """The final releases of `package` that have a wheel for every platform, in version order.

        Raises:
            HarnessError: the index cannot be reached or does not know the package.
        """
        found: dict[Version, dict[str, DistributionPackage]] = {}
        for file in self._page(package):
            version = _final(file)
            is_pure = file.filename.endswith("-py3-none-any.whl")
            if version is not None and (file.package_type == "sdist" or is_pure):
                found.setdefault(version, {})[str(file.package_type)] = file
        return [_release(v, files) for v, files in sorted(found.items()) if "wheel" in files]

    def requirements(self, package: str, file: IndexFile, folder: Path) -> list[str]:
        """The Requires-Dist lines of a wheel, from the metadata file beside it; for the few wheels without one, from
        the wheel itself, downloaded into `folder`."""
        from pypi_simple.errors import NoMetadataError

        listed = self._find(package, file.file)
        # Some indexes serve the file and list no digest of it; where there is one it is checked.
        verify = bool(listed.metadata_digests)
        try:
            text = self._retry(
                f"the metadata of {file.file}",
                lambda: self._client.get_package_metadata(listed, verify=verify, timeout=_TIMEOUT),
            )
        except NoMetadataError:
            text = metadata_of(self.download(package, file, folder), package)
        head = text.partition("\n\n")[0].splitlines()
        return [line.partition(":")[2].strip() for line in head if line.startswith("Requires-Dist:")]

    def any_wheel(self, package: str, version: str) -> IndexFile:
        """Some wheel of a version, for what all of them say alike.

        Raises:
            HarnessError: the index lists none.
        """
        for file in self._page(package):
            if file.package_type == "wheel" and file.version and _same(file.version, Version(version)):
                return _file(file)
        raise HarnessError(f"the index {self.name} lists no wheel of {package} {version}")

    def size_of(self, package: str, version: str) -> int | None:
        """The size in bytes of the largest wheel of a version, None where the index does not say."""
        wanted = Version(version)
        sizes = [f.size for f in self._page(package) if f.version and _same(f.version, wanted) and f.size]
        return max(sizes, default=None)

    def download(self, package: str, file: IndexFile, folder: Path) -> Path:
        """Bring a file into `folder`, unless it is there already; its hash is checked either way.

        A file that is there with another hash is damaged: it is named and fetched anew. The result appears whole or
        not at all.

        Raises:
            NotCached: offline, and it is not there.
            DamagedDownload: what the index gives is not what the pins name; nothing is kept.
            HarnessError: the index cannot be reached, after several attempts.
        """
        target = folder / file.file
        if target.exists():
            if _sha256(target) == file.sha256:
                return target
            self._emit(Note(f"the cached {file.file} is damaged; fetching it anew", warning=True))
            target.unlink(missing_ok=True)
        listed = self._find(package, file.file)
        folder.mkdir(parents=True, exist_ok=True)
        self._retry(file.file, lambda: self._fetch(listed.url, file, target))
        return target

    def _fetch(self, url: str, file: IndexFile, target: Path) -> None:
        """One attempt at a download, beside its target and renamed into place."""
        handle, name = tempfile.mkstemp(prefix=f".part-{os.getpid()}-", dir=target.parent)
        part = Path(name)
        self._emit(Started(file.file, f"downloading {file.file}", file.size, "bytes", long=file.size > _LARGE))
        note = "failed"
        try:
            with os.fdopen(handle, "wb") as out:
                sha256 = hashlib.sha256()
                for done, piece in self._pieces(url, file):
                    out.write(piece)
                    sha256.update(piece)
                    self._emit(Advanced(file.file, done))
            if sha256.hexdigest() != file.sha256:
                raise DamagedDownload(
                    f"{file.file} from {self.name} has sha256 {sha256.hexdigest()}, and the pins say {file.sha256}; "
                    "nothing was kept. Is a proxy or a mirror in between changing files?"
                )
            part.chmod(0o644)
            part.replace(target)
            self._emit(Counted("downloads", 1))
            note = ""
        finally:
            part.unlink(missing_ok=True)
            self._emit(Finished(file.file, note))

    def _pieces(self, url: str, file: IndexFile) -> Iterator[tuple[int, bytes]]:
        import requests

        done = 0
        with self._session.get(url, stream=True, timeout=_TIMEOUT) as response:
            response.raise_for_status()
            for piece in response.iter_content(_PIECE):
                done += len(piece)
                if done > file.size:
                    raise DamagedDownload(
                        f"{file.file} from {self.name} is longer than the {file.size} bytes of the pins"
                    )
                yield done, piece
        if done != file.size:
            raise requests.ConnectionError(f"cut off after {done} of {file.size} bytes")

    def _page(self, package: str) -> list[DistributionPackage]:
        from pypi_simple.errors import NoSuchProjectError

        if package not in self._pages:
            try:
                page = self._retry(
                    f"the list of {package}", lambda: self._client.get_project_page(package, timeout=_TIMEOUT)
                )
            except NoSuchProjectError as error:
                raise HarnessError(f"the index {self.name} does not know {package}") from error
            self._pages[package] = page.packages
        return self._pages[package]

    def _find(self, package: str, filename: str) -> DistributionPackage:
        if self._offline:
            raise NotCached(f"{filename} is not cached, and --offline forbids to fetch it; run once without")
        for file in self._page(package):
            if file.filename == filename:
                return file
        raise HarnessError(f"the index {self.name} no longer lists {filename}, which the pins name")

    def _retry(self, what: str, attempt: Callable[[], T]) -> T:
        """Try again where another attempt may help: broken connections, time-outs, errors of the server."""
        if self._offline:
            raise NotCached(f"{what} is not cached, and --offline forbids to fetch it; run once without")
        import requests
        from pypi_simple.errors import UnsupportedRepoVersionError

        for number in range(1, self._attempts + 1):
            try:
                return attempt()
            except requests.RequestException as error:
                status = getattr(getattr(error, "response", None), "status_code", None)
                final = status is not None and status < 500 and status != 429
                if final or number == self._attempts:
                    raise HarnessError(
                        f"{what} cannot be had from {self.name} ({number} attempts): {redact(str(error))}"
                    ) from error
                self._emit(Note(f"{what}: {redact(str(error))}; trying again", warning=True))
                time.sleep(self._pause * 2 ** (number - 1))
            except (ValueError, UnsupportedRepoVersionError) as error:
                # pypi-simple's errors: another content type, no such JSON, another digest, a later API.
                reason = redact(str(error)).splitlines()[0]
                raise HarnessError(f"{what} from {self.name} cannot be used: {reason}") from error
        raise AssertionError("unreachable")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _final(file: DistributionPackage) -> Version | None:
    try:
        version = Version(file.version or "")
    except InvalidVersion:
        return None
    return None if version.is_prerelease else version


def _same(text: str, wanted: Version) -> bool:
    try:
        return Version(text) == wanted
    except InvalidVersion:
        return False


def _release(version: Version, files: dict[str, DistributionPackage]) -> IndexRelease:
    wheel = files["wheel"]
    if wheel.upload_time is None:
        raise HarnessError(f"the index gives no upload time for {wheel.filename}; its JSON form is needed")
    yanked = None
    if wheel.is_yanked:
        yanked = " ".join((wheel.yanked_reason or "no reason given").split())
    sdist = files.get("sdist")
    return IndexRelease(
        version,
        wheel.upload_time,
        wheel.requires_python or "",
        yanked,
        _file(wheel),
        _file(sdist) if sdist else None,
    )


def _file(file: DistributionPackage) -> IndexFile:
    sha256 = file.digests.get("sha256")
    if sha256 is None or file.size is None:
        raise HarnessError(f"the index gives no sha256 or size for {file.filename}; its JSON form is needed")
    return IndexFile(file.filename, sha256, file.size)
