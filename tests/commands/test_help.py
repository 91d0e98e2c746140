# SPDX-License-Identifier: Apache-2.0
"""Every command's help has examples: each of them parses and names what is there, and they run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from headwater.cli import completing
from headwater.cli.main import COMMANDS
from headwater.cli.main import headwater as cli

LONG = "takes many minutes: all releases, or all cases"
FOREVER = "runs until Ctrl-C; tests/commands/test_scale_out.py runs it"
README = "tests/test_readme.py runs it"
RUN_ELSEWHERE = {
    "headwater matrix": LONG,
    "headwater matrix --releases '>=5.0.0' --devices cpu,meta --jobs 2": LONG,
    "headwater matrix --releases '>=5.0.0' --devices cpu,meta": LONG,
    "headwater matrix --releases 5.5.0..5.13.0 --series hybrid-static-cache --tests conformance": LONG,
    "headwater test-patched --drop-each": LONG,
    "headwater test-patched hybrid-static-cache --device cpu --drop 0002": "tests/commands/test_patched.py runs it",
    "headwater test-patched": README,
    "headwater test-patched hybrid-static-cache": README,
    "headwater repro 5.10.1": README,
    "headwater bisect early-init --good 5.4.0 --bad 5.10.1": README,
    "headwater pr hybrid-static-cache --onto 5.10.1": README,
    "headwater pr verify outgoing/hybrid-static-cache": "tests/commands/pr/test_pr_verify.py runs it",
    "headwater atlas check": LONG,
    "headwater atlas update": LONG,
    "headwater atlas update --cases early-init --releases '>=5.5.0' --write": LONG,
    "headwater pins update && headwater atlas update --new --write": LONG,
    "headwater case check": LONG,
    "headwater cache fill": LONG,
    "headwater pins update --trees": LONG,
    "headwater bisect early-init --find all": LONG,
    "headwater bisect early-init --find fixed --reduce": "tests/commands/test_reduce_releases.py runs it",
    "headwater reduce early-init --from 5.12.1 --to 5.13.0": README,
    "headwater reduce early-init --from 5.4.0 --to 5.5.0 --lines 60": LONG,
    "headwater backport early-init --onto 5.10.1": README,
    "headwater audit": "depends on what is installed; tests/commands/test_audit.py runs it",
    "headwater audit --python ../my-venv": "needs an environment; tests/commands/test_audit.py runs it",
    "headwater case new 46439 --script report.py --bad 5.10.1 --good 5.4.0 --id early-init-again":
        "needs a report; tests/commands/test_case.py runs it",
    "headwater case new huggingface/transformers#46439 --script report.py --bad 5.10.1":
        "needs a report; tests/commands/test_case.py runs it",
    "headwater case check early-init --mutants": LONG,
    "headwater patch carry hybrid-static-cache --to 5.5.0 --as plain-integers":
        "that variant is there; tests/commands/test_patch_carry.py runs it",
    "headwater patch carry hybrid-static-cache --to 5.5.0 --continue":
        "goes on after a conflict; tests/commands/test_patch_carry.py runs it",
    "headwater patch diff hybrid-static-cache v1 v2 --release 5.11.0":
        "needs two tags; tests/commands/test_patch_diff.py runs it",
    "headwater patch refresh hybrid-static-cache 0001 --tree upstream/checkouts/5.10.1 --add tests/utils/test_new.py":
        "needs edits; tests/commands/tree/test_refresh.py runs it",
    'headwater patch new my-fix "Static layers crop" --case static-crop-missing '
    "--tree upstream/checkouts/5.10.1": "needs edits; tests/commands/tree/test_refresh.py runs it",
    "headwater pr verify ~/Downloads/bundle --patch 0001 --device cpu":
        "needs that folder; tests/commands/pr/test_pr_verify.py runs it",
    "headwater scheduler": FOREVER,
    "headwater scheduler --host 10.0.0.1": FOREVER,
    "headwater worker tcp://127.0.0.1:8786": FOREVER,
    "headwater worker tcp://10.0.0.1:8786 --name gpu-1": FOREVER,
}  # fmt: skip
CHECKOUT = "headwater checkout 5.10.1"
APPLY = "headwater patch apply hybrid-static-cache --tree upstream/checkouts/5.10.1"
BUNDLE = "headwater pr hybrid-static-cache --onto 5.10.1"
EDIT = "echo >> upstream/checkouts/5.10.1/src/transformers/cache_utils.py"
# What has to be done before an example.
BEFORE = {
    "headwater repro --tree upstream/checkouts/5.10.1": [CHECKOUT],
    APPLY: [CHECKOUT],
    "headwater patch undo --tree upstream/checkouts/5.10.1": [CHECKOUT, APPLY],
    "headwater patch refresh hybrid-static-cache --tree upstream/checkouts/5.10.1": [CHECKOUT, APPLY, EDIT],
    "headwater patch import hybrid-static-cache mail.mbox": [
        "headwater patch export hybrid-static-cache --to out", "cat out/0004-*.patch > mail.mbox",
        "headwater patch drop hybrid-static-cache 0004",
    ],
    "headwater patch diff hybrid-static-cache HEAD": [
        "git init -q", "git add -A", "git -c user.name=n -c user.email=m@invalid.example commit -q -m all",
    ],
    "headwater pr check outgoing/hybrid-static-cache": [BUNDLE],
    "headwater atlas page --write": ["mkdir docs", f"cp {Path(__file__).parents[2] / 'README.md'} ."],
}  # fmt: skip
# Which status an example ends with, other than 0.
STATUS = {
    "headwater audit 5.10.1": 1,  # it has known bugs
    "headwater pr check outgoing/hybrid-static-cache": 1,  # its body is not written
}


Named = Iterator[tuple[str, click.Command]]


def commands(command: click.Command, context: click.Context, *words: str) -> Named:
    """A command or group, and every one below it, by the words that name it."""
    yield " ".join(words), command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(child, click.Context(child, context, name), *words, name)


ALL = dict(commands(cli, click.Context(cli)))


def examples(command: click.Command) -> list[str]:
    """The examples of a command's help: whole lines that begin with `headwater`."""
    return re.findall(r"(?m)^ +(headwater .*)$", (command.help or "").partition("Example")[2])


LINES = list(dict.fromkeys(line for command in ALL.values() for line in examples(command)))


# Imports all with what they need, forgets what is Headwater's own, and imports each in a process where no other was.
IMPORTS = """
import importlib, os, sys
names = [f"headwater.cli.{word}" for word in sys.argv[1:]]
for name in names:
    importlib.import_module(name)
for name in [name for name in sys.modules if name.partition(".")[0] == "headwater"]:
    del sys.modules[name]
failed = []
for name in names:
    child = os.fork()
    if child == 0:
        try:
            importlib.import_module(name)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed.append(name)
sys.exit(", ".join(failed) or 0)
"""


def test_each_commands_module_can_be_imported_first(root: Path) -> None:
    """It is imported when its command is asked for, which must go well where nothing else of Headwater was imported."""
    environ = {**os.environ, "PYTHONPATH": str(root / "src")}
    modules = sorted({place.partition(":")[0] for place in COMMANDS.values()})
    subprocess.run([sys.executable, "-c", IMPORTS, *modules], env=environ, check=True)


@pytest.mark.parametrize("words", ALL)
def test_every_command_has_an_example_of_its_own(words: str) -> None:
    # `pr SERIES` is short for `pr make SERIES`.
    assert any(line.startswith(f"headwater {words}".strip().removesuffix(" make")) for line in examples(ALL[words]))


def parsed(words: list[str]) -> Iterator[click.Context]:
    """The contexts of a command line, as click makes them before anything runs."""
    context = cli.make_context("headwater", words)
    yield context
    while isinstance(context.command, click.Group):
        name, command, rest = context.command.resolve_command(context, [*context._protected_args, *context.args])
        assert name is not None and command is not None
        context = command.make_context(name, rest, parent=context)
        yield context


@pytest.mark.parametrize("line", LINES)
def test_an_example_parses_and_names_what_is_there(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("outgoing/hybrid-static-cache", "~/Downloads/bundle"):
        (tmp_path / folder).mkdir(parents=True)
    for part in line.split(" && "):
        words = shlex.split(part.partition(" > ")[0])
        assert words[0] == "headwater"
        for context in parsed(words[1:]):
            for parameter in context.command.params:
                assert unknown(root, context, parameter) == [], line


def unknown(root: Path, context: click.Context, parameter: click.Parameter) -> list[str]:
    """The names that were given for a parameter whose names are known, and that are not among them. Files, test ids,
    specifiers and what an example begins anew are none."""
    complete = getattr(parameter, "_custom_shell_complete", None)
    if complete not in (completing.cases, completing.releases, completing.series, completing.devices):
        return []
    given = context.params[str(parameter.name)]
    words = [word for one in (given if isinstance(given, tuple) else (given,)) if one for word in one.split(",")]
    free = re.compile(r"[<>=:/]|\.\.|\.py$|^(none|all|main|my-fix)$|^v5|^checkouts")
    known = set(complete(context_in(root), parameter, ""))
    # `patch explain [SERIES] RELEASE` takes both by one parameter.
    known |= set(completing.series(context_in(root), parameter, "")) if parameter.name == "words" else set()
    return [word for word in words if not free.search(word) and word not in known]


def context_in(root: Path) -> click.Context:
    """A context that stands in the workspace."""
    context = click.Context(cli)
    context.params["root"] = root
    return context


def test_what_is_not_run_says_why_and_is_an_example() -> None:
    assert set(RUN_ELSEWHERE) | set(BEFORE) | set(STATUS) <= set(LINES)
    for reason in RUN_ELSEWHERE.values():
        for file in re.findall(r"tests/\S+\.py", reason):
            assert (Path(__file__).parents[2] / file).is_file()


# Examples on a clone of upstream are parsed and no more: a machine may have none.
RUN = [line for line in LINES if line not in RUN_ELSEWHERE and "../transformers" not in line and "--repo" not in line]


@pytest.mark.slow
@pytest.mark.releases
@pytest.mark.parametrize("line", RUN)
def test_an_example_runs(line: str, whole_workspace: Path, test_cache: Path, tmp_path: Path, root: Path) -> None:
    own = "cache clean" in line or "cache prune" in line
    cache = tmp_path / "cache" if own else test_cache
    environ = {**os.environ, "HEADWATER_CACHE": str(cache), "PYTHONPATH": str(root / "src"), "HOME": str(tmp_path)}
    (tmp_path / ".config" / "fish" / "completions").mkdir(parents=True)
    defined = f'headwater() {{ {shlex.quote(sys.executable)} -m headwater "$@"; }}'
    for command in [*BEFORE.get(line, []), line]:
        done = subprocess.run(
            ["bash", "-c", f"{defined}; {command}"], cwd=whole_workspace, env=environ, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == (STATUS.get(line, 0) if command == line else 0), done.stdout + done.stderr
        assert "Traceback" not in done.stderr
