# SPDX-License-Identifier: Apache-2.0
"""The library's own tests without and with a series, where a repository that holds them is at hand."""

from __future__ import annotations

from headwater.commands.context import Context
from headwater.commands.pr.replay import Bundle, Ground
from headwater.commands.pr.target import Target
from headwater.core.pr_evidence import LibraryLine, library_line
from headwater.core.pr_library import library_tests
from headwater.core.results import has_accelerator
from headwater.core.test_results import compare
from headwater.effects.probe import Prober
from headwater.effects.targets import upstream_suite


def library_lines(
    context: Context, prober: Prober, target: Target, bundle: Bundle, ground: Ground
) -> tuple[LibraryLine, ...]:
    """A line for each file of the library's tests that belongs to a file that the series changes, and each device that
    has real numbers."""
    if target.rules is None:
        return ()
    paths = list(dict.fromkeys(path for patch in bundle.patches for path in patch.paths))
    places = library_tests(paths, context.workspace.pins.package)
    there = [next((name for name in names if target.rules.read(name) is not None), None) for names in places]
    lines = []
    for file in dict.fromkeys(name for name in there if name is not None):
        case = upstream_suite(context.workspace, file, target.rules)
        for device in bundle.devices:
            if device == "cpu" or has_accelerator(device):
                before = prober.probe(ground.bare, case, device)
                after = prober.probe(ground.stages[-1].subject, case, device)
                lines.append(library_line(file, before, after, compare(before.tests, after.tests)))
    return tuple(lines)
