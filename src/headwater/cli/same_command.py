# SPDX-License-Identifier: Apache-2.0
"""The command line that asks the same again, for whoever interrupted it."""

from __future__ import annotations

import shlex
from collections.abc import Collection

import click

# What does not belong to the question: where it runs, where the answer goes, what has to be run once more.
NOT_ASKED = frozenset({"as_json", "file", "offline", "root", "fresh", "jobs", "executor", "scheduler"})


def same_command(words: click.Context, not_asked: Collection[str] = ()) -> str:
    """The command line of `words`, without what does not belong to the question and without defaults."""
    said = ["headwater", str(words.info_name)]
    for parameter in words.command.params:
        value = words.params[str(parameter.name)]
        if parameter.name in NOT_ASKED | set(not_asked) or value in (None, (), False) or value == parameter.default:
            continue
        if isinstance(parameter, click.Argument):
            said.append(str(value))
            continue
        flag = parameter.opts[0]
        said += [flag] if value is True else [word for one in _each(value) for word in (flag, str(one))]
    return shlex.join(said)


def _each(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)
