# SPDX-License-Identifier: Apache-2.0
# /// script
# requires-python = ">=3.11"
# dependencies = ["nox>=2025.5.1"]
# ///
"""How runs are composed. Sessions put words together; what they run is `headwater`, which makes its own environment.

nox -s repro-5.10.1
nox -s repro -- 5.9.0 --device meta --case early-init
nox -s test-patched
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import nox

ROOT = Path(__file__).parent
[PINS_FILE] = (ROOT / "upstream").glob("*.toml")
PINS = tomllib.loads(PINS_FILE.read_text(encoding="utf-8"))

# A bare `nox` lists the sessions instead of running all of them.
nox.options.sessions = []
nox.options.default_venv_backend = "none"


def run(session: nox.Session, script: str, *words: str) -> None:
    """Run one of scripts/. A session that runs alone ends with the script's own exit status."""
    command = [sys.executable, str(ROOT / "scripts" / script), *words]
    status = subprocess.run(command, check=False).returncode
    # nox itself ends with 1 whatever a session ended with. Its manifest holds the sessions that were selected.
    if status != 0 and len(session._runner.manifest) == 1:
        sys.exit(status)
    if status != 0:
        session.error(f"{script} {' '.join(words)} ended with status {status}")


def repro_session(release: str) -> Callable[[nox.Session], None]:
    def repro_release(session: nox.Session) -> None:
        run(session, "headwater.py", "repro", release, *session.posargs)

    repro_release.__doc__ = f"Run every case on {PINS['package']} {release}."
    return repro_release


for pin in PINS.get("release", []):
    nox.session(name=f"repro-{pin['version']}")(repro_session(pin["version"]))


@nox.session
def repro(session: nox.Session) -> None:
    """Run cases on any release: nox -s repro -- 5.9.0 --device meta --case early-init."""
    run(session, "headwater.py", "repro", *session.posargs)


@nox.session(name="test-patched")
def test_patched(session: nox.Session) -> None:
    """Every case before and after a series, and the patches' own tests."""
    run(session, "headwater.py", "test-patched", *session.posargs)


@nox.session
def matrix(session: nox.Session) -> None:
    """What holds where: nox -s matrix -- --releases '>=5.5.0,<5.14' --devices cpu,meta --series hybrid-static-cache."""
    run(session, "headwater.py", "matrix", *session.posargs)


@nox.session
def bisect(session: nox.Session) -> None:
    """Find the release that introduced a bug: nox -s bisect -- early-init --good 5.4.0 --bad 5.10.1."""
    run(session, "bisect.py", *session.posargs)


@nox.session(name="pr-diff")
def pr_diff(session: nox.Session) -> None:
    """What is sent upstream, with the evidence: nox -s pr-diff -- hybrid-static-cache --onto 5.10.1."""
    run(session, "headwater.py", "pr", *session.posargs)


@nox.session
def audit(session: nox.Session) -> None:
    """The known bugs of a release, or of the one that is installed here: nox -s audit -- 5.10.1."""
    run(session, "headwater.py", "audit", *session.posargs)


@nox.session
def report(session: nox.Session) -> None:
    """One HTML file of every case over every release, with the evidence: nox -s report -- --output report.html."""
    run(session, "headwater.py", "report", *session.posargs)


@nox.session
def checkout(session: nox.Session) -> None:
    """Lay out a git work tree of a release to read and edit: nox -s checkout -- 5.10.1."""
    run(session, "headwater.py", "checkout", *session.posargs)


# Below this line: Headwater's own tests and checks, which `headwater init` leaves out.

# Three on two processors: tests wait for time limits, locks and other processes.
PYTEST = ("develop.py", "pytest", "-n", "3")


@nox.session
def tests(session: nox.Session) -> None:
    """Headwater's own tests, on real releases, environments and processes, without the slow ones of `faults`."""
    run(session, *PYTEST, "--dist", "worksteal", *session.posargs)


@nox.session
def faults(session: nox.Session) -> None:
    """The tests that take longer: kills, damage, counts, and the corners of hunts and patches."""
    run(session, *PYTEST, "-m", "slow", "--dist", "loadgroup", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Which branches of core/ its own tests reach."""
    suite = ("-m", "pytest", "--hypothesis-profile=whole", "tests/core", *session.posargs)
    run(session, "develop.py", "coverage", "run", *suite)
    run(session, "develop.py", "coverage", "report")


@nox.session(name="coverage-all")
def coverage_all(session: nox.Session) -> None:
    """Which branches of all of Headwater the everyday suite reaches, in its processes too."""
    rules = "--rcfile=tests/coverage-all.toml"
    suite = ("-m", *PYTEST[1:], "--dist", "worksteal", *session.posargs)
    run(session, "develop.py", "coverage", "erase", rules)
    run(session, "develop.py", "coverage", "run", rules, *suite)
    run(session, "develop.py", "coverage", "combine", "--quiet", rules)
    run(session, "develop.py", "coverage", "report", rules)


@nox.session
def bench(session: nox.Session) -> None:
    """What Headwater costs, as ratios in one run: nox -s bench -- --quick."""
    run(session, "bench.py", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The site, in site/: manual, architecture, atlas, reliability, performance; links between pages are checked."""
    strict = ("--fail-on-warning", "--keep-going", "--nitpicky", "--fresh-env", "--quiet")
    run(session, "develop.py", "sphinx-build", *strict, "docs", "site", *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """How many mistakes in the library's caches the suite notices: nox -s mutants -- --count 60 --seed 7."""
    run(session, "mutants.py", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, and the direction of imports."""
    run(session, "develop.py", "ruff", "check", ".")
    run(session, "develop.py", "ruff", "format", "--check", ".")
    run(session, "develop.py", "lint-imports")


@nox.session
def typing(session: nox.Session) -> None:
    """Strict types."""
    run(session, "develop.py", "mypy")
