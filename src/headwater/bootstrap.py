# SPDX-License-Identifier: Apache-2.0
"""From a bare Python to the workspace's environment. The standard library only.

The scripts and the nox sessions run Headwater from here: where it is not installed, an environment is made once in
`.headwater/` of the workspace, with progress, and the script starts again inside it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import runpy
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from headwater.core.index_settings import uv_environment
from headwater.core.redaction import redact

_STAMP = "headwater-stamp"
# What stands for an extra of pyproject.toml being installed.
_MODULES = {None: "pypi_simple", "dask": "distributed"}


def extra_of(words: Sequence[str]) -> str | None:
    """The extra of pyproject.toml that a command line of `headwater` needs."""
    serves = list(words[:1]) in (["worker"], ["scheduler"])
    return "dask" if serves or "--executor=dask" in words or ("--executor", "dask") in pairwise(words) else None


def enter_workspace(root: Path, group: str | None = None, extra: str | None = None) -> None:
    """Return where Headwater can be imported with what it needs; else start the running script again where it can.

    `group` is a dependency group of pyproject.toml, such as "tests", or `extra` an extra, that is needed as well.
    """
    also = group or extra
    environment = root / ".headwater" / (f"venv-{also}" if also else "venv")
    if Path(sys.prefix).resolve() == environment.resolve():
        return
    if group is None and importlib.util.find_spec(_MODULES[extra]) and _is_installed():
        return
    if not (root / "pyproject.toml").is_file():
        # A workspace that `headwater init` laid out has nothing to install from; an extra that lacks is told by name.
        return
    python = ensure_environment(root, environment, group, extra)
    restart(python)


def _is_installed() -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        version("headwater")
    except PackageNotFoundError:
        return False
    return True


def restart(python: Path) -> NoReturn:
    """Run the same command line with another Python, in this very process. The one that it was started with is told:
    what is installed there may be what a user asks about (`headwater audit`)."""
    os.environ["HEADWATER_STARTED_BY"] = sys.executable
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(python, [str(python), *sys.argv])


def ensure_environment(root: Path, environment: Path, group: str | None, extra: str | None = None) -> Path:
    """Make an environment with Headwater and a dependency group or an extra, unless it stands and is current; its
    Python."""
    python = environment / "bin" / "python"
    wanted = _stamp(root)
    stamp = environment / _STAMP
    if _text(stamp) == wanted:
        return python
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever runs a script with an older one gets a sentence
        sys.exit(f"headwater: needs Python 3.11 or later, and this is {sys.version.split()[0]}")
    environment.parent.mkdir(parents=True, exist_ok=True)
    with _alone(environment.with_suffix(".lock")):
        if _text(stamp) != wanted:
            what = f"Headwater and its {group} tools" if group else f"Headwater with {extra}" if extra else "Headwater"
            print(f"headwater: installing {what} into {environment} (once) ...", file=sys.stderr, flush=True)
            _install(root, environment, python, group, extra)
            stamp.write_text(wanted, encoding="utf-8")
    return python


def run_tool(words: list[str]) -> NoReturn:
    """Run a command of a package that is installed here, by its entry point or as a module, and end with its status."""
    from importlib.metadata import entry_points

    sys.argv[:] = words
    for entry in entry_points(group="console_scripts", name=words[0]):
        sys.exit(entry.load()())
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    sys.exit(0)


def _install(root: Path, environment: Path, python: Path, group: str | None, extra: str | None) -> None:
    if environment.exists():
        shutil.rmtree(environment)
    venv.create(environment, with_pip=True, symlinks=True)
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"])
    uv = [str(environment / "bin" / "uv"), "pip", "install", "--quiet", "--python", str(python)]
    wanted = ["--editable", f"{root}[{extra}]" if extra else str(root)]
    if group is not None:
        wanted += ["--group", f"{root / 'pyproject.toml'}:{group}"]
    _run([*uv, *wanted], {**uv_environment(os.environ), "UV_NO_CONFIG": "1"})


def _run(command: list[str], extra: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command, env={**os.environ, **(extra or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        print(redact(done.stdout), file=sys.stderr)
        sys.exit(f"headwater: {' '.join(map(redact, command[:4]))} ... ended with status {done.returncode}; see above")


def _stamp(root: Path) -> str:
    """What the environment was made from; another Python or other dependencies make it anew."""
    content = (root / "pyproject.toml").read_bytes()
    return f"{hashlib.sha256(content).hexdigest()} {sys.version} {root}\n"


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock between processes; it goes with its holder."""
    import fcntl

    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
