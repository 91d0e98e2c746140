# SPDX-License-Identifier: Apache-2.0
"""The least that a probe can cost: a fork of a process with the same modules, an import, the case's body.

Runs in a probed environment, standard library only, the tree on PYTHONPATH: python bare_fork.py MODULES.json CASES CASE
For every line on standard input it forks once, and writes how many seconds passed until the fork had ended.
"""

import contextlib
import gc
import importlib
import json
import os
import sys
import time
from pathlib import Path

RETURNED, RAISED, BROKEN = 0, 1, 2


def preload(modules: list[str]) -> None:
    for name in modules:
        # Some can only be imported from within another; the fork server passes over them too.
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def body(cases: str, case: str) -> int:
    sys.path.insert(0, cases)
    importlib.import_module("transformers")
    module = importlib.import_module(case)
    try:
        module.run("cpu")
    except Exception:  # noqa: BLE001 - as the bug shows
        return RAISED
    return RETURNED


def fork(cases: str, case: str) -> tuple[float, int]:
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        status = BROKEN
        try:
            status = body(cases, case)
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return time.perf_counter() - began, status


def main(modules: str, cases: str, case: str) -> None:
    preload(json.loads(Path(modules).read_text(encoding="utf-8"))["modules"])
    if "transformers" in sys.modules:
        sys.exit("transformers was imported ahead: the forks would not")
    for _line in sys.stdin:
        seconds, status = fork(cases, case)
        if status != RAISED:
            sys.exit(f"the case ended with status {status} instead of {RAISED}")
        sys.stdout.write(f"{seconds}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
