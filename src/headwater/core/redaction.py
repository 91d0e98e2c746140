# SPDX-License-Identifier: Apache-2.0
"""Take credentials out of anything that is shown or stored."""

from __future__ import annotations

import re

# Not anchored at the scheme: looking for its start takes quadratic time on long words. A quote (') may stand in
# userinfo, a double one may not.
_USERINFO = re.compile(r"://[^/?#\s\"]*@")


def redact(text: str) -> str:
    """Return `text` with the user and password of every address in it replaced by `***`.

    The userinfo part of an address ends at the last `@` before the path (RFC 3986, section 3.2.1).
    """
    return _USERINFO.sub("://***@", text)
