# SPDX-License-Identifier: Apache-2.0
"""Take credentials out of anything that is shown or stored."""

from __future__ import annotations

import re

_USERINFO = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)[^/?#\s'\"]*@", re.IGNORECASE)


def redact(text: str) -> str:
    """Return `text` with the user and password of every address in it replaced by `***`.

    The userinfo part of an address ends at the last `@` before the path (RFC 3986, section 3.2.1).
    """
    return _USERINFO.sub(r"\g<scheme>***@", text)
