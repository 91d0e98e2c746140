# SPDX-License-Identifier: Apache-2.0
"""What is common to all commands: their options, progress, JSON, and the one error boundary."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from headwater.commands.context import Context
from headwater.core.errors import HeadwaterError
from headwater.core.events import Counted, Event
from headwater.core.redaction import redact
from headwater.core.results import INTERRUPTED
from headwater.effects.files import write_atomically
from headwater.report.machine import document, write_json
from headwater.report.progress import ProgressReport
from headwater.report.terminal import print_error, print_lines

BUG = 5


@dataclass(frozen=True)
class Output:
    """Where results go: a table on `console`, or, with `--json`, one object on standard output; `rest` takes progress
    off the terminal before."""

    command: str
    console: Console
    errors: Console
    as_json: bool
    file: Path | None
    counts: Counter[str]
    rest: Callable[[], None] = lambda: None

    def give(self, show: Callable[[Console], None], **parts: object) -> str:
        """Show a result to people or to machines; `parts` are the keys of the JSON object, whose text is returned."""
        text = document(self.command, **parts, counts=dict(sorted(self.counts.items())))
        if self.file is not None:
            write_atomically(self.file, text)
        self.rest()
        if self.as_json:
            write_json(text)
        else:
            show(self.console)
        return text


_JSON = click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
_OFFLINE = click.option("--offline", is_flag=True, help="Use what is cached; say what is missing.")
_WORKSPACE = click.option(
    "--workspace",
    "root",
    type=click.Path(path_type=Path, file_okay=False),
    help="The workspace; default: the folder with upstream/<library>.toml around this one.",
)


def options_with(output: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--json`, `--output`, `--offline`, `--workspace`; `output` says what a command writes to FILE."""
    file = click.option("--output", "file", type=click.Path(path_type=Path, dir_okay=False), help=output)

    def with_options(function: Callable[..., Any]) -> Callable[..., Any]:
        return _JSON(file(_OFFLINE(_WORKSPACE(function))))

    return with_options


common_options = options_with("Write the JSON object to FILE.")


def folder_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a command whose own `--output` names the folder that it writes."""
    return _JSON(_OFFLINE(_WORKSPACE(function)))


@contextmanager
def running(
    command: str, as_json: bool, file: Path | None, offline: bool, root: Path | None, exclusive: bool = False
) -> Iterator[tuple[Context, Output]]:
    """Run a command's body: progress on standard error, and every error turned into words and an exit status."""
    errors = Console(stderr=True)
    counts: Counter[str] = Counter()
    if file is not None and not file.parent.is_dir():
        raise click.BadParameter(f"the folder {file.parent} is not there", param_hint="--output")
    output = Output(command, Console(), errors, as_json, file, counts)
    try:
        with ProgressReport(errors) as progress, ExitStack() as exits:

            def emit(event: Event) -> None:
                if isinstance(event, Counted):
                    counts[event.what] += event.number
                else:
                    progress.emit(event)

            context = Context(root.resolve() if root else None, emit, offline, exits, exclusive)
            yield context, replace(output, rest=progress.rest)
    except HeadwaterError as error:
        _fail(output, error.kind, redact(str(error)), error.exit_status)
    except KeyboardInterrupt:
        _fail(output, "interrupted", "interrupted; every verdict up to here is stored", INTERRUPTED)
    except click.exceptions.Exit:
        raise
    except Exception:  # noqa: BLE001 - the error boundary: whatever comes here is a bug of ours
        print_lines(errors, [redact(traceback.format_exc())])
        _fail(output, "bug", "this is a bug in Headwater; please report it with the lines above", BUG)


def _fail(output: Output, kind: str, message: str, status: int) -> None:
    text = document(output.command, error={"kind": kind, "message": message})
    if output.file is not None:
        with suppress(OSError):  # It may be what failed.
            write_atomically(output.file, text)
    if output.as_json:
        write_json(text)
    print_error(output.errors, kind, message)
    raise click.exceptions.Exit(status)
