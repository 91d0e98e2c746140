# SPDX-License-Identifier: Apache-2.0
"""Expected errors, each with the exit status that the error boundary in `headwater.cli` gives it.

A message names the thing, its value and the next step; it is shown without a traceback.
"""

from __future__ import annotations


class HeadwaterError(Exception):
    """Something that a user can understand and act upon."""

    exit_status = 5
    kind = "error"


class BadInput(HeadwaterError):
    """What the user typed, or a file that the user wrote, cannot be taken."""

    exit_status = 2
    kind = "bad input"


class HarnessError(HeadwaterError):
    """Headwater or the machine failed: no verdict may follow from it."""

    exit_status = 5
    kind = "harness error"


class ToldToStop(HarnessError):
    """What a user gave to be run said, by an exit status from 128 on, that nothing more should run."""

    kind = "told to stop"


class Abandoned(HarnessError):
    """A probe was ended because nobody waits for it any more."""

    kind = "abandoned"


class NotCached(HarnessError):
    """`--offline` was asked for, and something is missing from the caches."""

    kind = "not cached"


class DamagedDownload(HarnessError):
    """A file from the index is not the one that the pins name."""

    kind = "damaged download"


class EnvironmentUnavailable(HeadwaterError):
    """No environment can be made for a tree; probes on it are `untestable`, never passed."""

    exit_status = 5
    kind = "no environment"


class PatchFailed(HeadwaterError):
    """A patch of a series does not apply: the message says which one and why."""

    exit_status = 1
    kind = "patch failed"
