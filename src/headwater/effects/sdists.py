# SPDX-License-Identifier: Apache-2.0
"""The tests in a release's source distribution, which holds those of the top level only."""

from __future__ import annotations

import tarfile
import zlib
from pathlib import Path

from headwater.core.errors import HarnessError
from headwater.core.pins import Pin
from headwater.effects.index import Index

_LARGEST = 8 << 20  # bytes of one test file


def sdist_file(index: Index, folder: Path, package: str, pin: Pin, path: str) -> bytes | None:
    """A file of a release's sdist, by its place in the checkout; None where the sdist, or the release, has none.

    The sdist is brought into `folder` unless it is there. Nothing of it is unpacked.

    Raises:
        HarnessError: it cannot be had, or is damaged, or the file is absurdly large.
    """
    if pin.sdist is None:
        return None
    archive = index.download(package, pin.sdist, folder)
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.isfile() and member.name.partition("/")[2] == path:
                    if member.size > _LARGEST:
                        raise HarnessError(f"{archive.name}: {path} has {member.size} bytes, more than {_LARGEST}")
                    stream = tar.extractfile(member)
                    assert stream is not None
                    return stream.read()
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise HarnessError(f"{archive.name} is damaged: {error}") from error
    return None
