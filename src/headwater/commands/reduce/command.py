# SPDX-License-Identifier: Apache-2.0
"""`headwater reduce`: from words to a reduction, with the commits of its hunks where a repository is there."""

from __future__ import annotations

from headwater.commands.context import Context
from headwater.commands.reduce.origin import traced
from headwater.commands.reduce.reduce import reduce
from headwater.commands.reduce.request import ReduceOptions, make_oracle
from headwater.core.reduction_report import ReductionReport
from headwater.effects.upstream_words import resolve


def reduce_command(context: Context, what: str, old: str, new: str, options: ReduceOptions) -> ReductionReport:
    """Reduce what lies between two revisions.

    Raises:
        BadInput: no such target, revision or repository, or both revisions are the same tree.
    """
    oracle, upstream = make_oracle(context, what, options)
    older, newer = (resolve(upstream, word, context.workspace.pins.versions) for word in (old, new))
    report = reduce(oracle, older, newer, options.limits)
    if upstream is not None and report.hunks:
        report = traced(oracle, upstream, report, older, newer)
    return report
