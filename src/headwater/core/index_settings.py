# SPDX-License-Identifier: Apache-2.0
"""What the environment says of the package index and of where wheels lie, for our own downloads and for uv's.

uv reads variables of its own and not pip's; a machine that is set up for pip must work all the same. The standard
library only: `headwater.bootstrap` uses this before anything is installed.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping


def index_url(environ: Mapping[str, str]) -> str | None:
    """The index to use, or None for the default one. uv's names come before pip's."""
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        if environ.get(name):
            return environ[name]
    return None


def find_links(environ: Mapping[str, str]) -> list[str]:
    """Folders or pages with wheels: uv's variable, else pip's."""
    if environ.get("UV_FIND_LINKS"):
        return [part.strip() for part in environ["UV_FIND_LINKS"].split(",") if part.strip()]
    return environ.get("PIP_FIND_LINKS", "").split()


def certificates(environ: Mapping[str, str]) -> str | None:
    """A file of certificate authorities, where one is named."""
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT"):
        if environ.get(name):
            return environ[name]
    return None


def uv_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables to run uv with, over `environ`: what pip's variables say, in uv's words."""
    extra: dict[str, str] = {}
    if url := index_url(environ):
        extra["UV_DEFAULT_INDEX"] = url
    if links := find_links(environ):
        extra["UV_FIND_LINKS"] = ",".join(links)
    if certs := certificates(environ):
        extra["SSL_CERT_FILE"] = certs
    if (timeout := environ.get("PIP_DEFAULT_TIMEOUT")) and not environ.get("UV_HTTP_TIMEOUT"):
        # uv stops at a fraction of a second, which pip takes.
        with contextlib.suppress(ValueError, OverflowError):
            extra["UV_HTTP_TIMEOUT"] = str(math.ceil(float(timeout)))
    return extra
