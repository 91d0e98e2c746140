# SPDX-License-Identifier: Apache-2.0
"""Every script runs from a bare Python, on a fresh copy of the repository, with nothing installed."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater.bootstrap import _stamp, ensure_environment, enter_workspace, extra_of, restart, run_tool
from headwater.effects.installed import STARTED_BY

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path.name for path in (ROOT / "scripts").glob("*.py"))
SECRET = "hunter2"


def test_the_scripts_are_known() -> None:
    assert {"bisect.py", "develop.py", "headwater.py"} <= set(SCRIPTS)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the repository holds."""
    folder = tmp_path_factory.mktemp("copy") / "head water"
    folder.mkdir()
    for name in ("src", "scripts", "patches", "tests/bench", "tests/mutants", "tests/repro", "tests/conformance"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "noxfile.py"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "upstream" / "locks", folder / "upstream" / "locks")
    shutil.copy(ROOT / "upstream" / "transformers.toml", folder / "upstream")
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with nothing installed, not even pip."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


@pytest.fixture
def environ(machine: Mapping[str, str], home: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The machine's own settings of the network, and caches aside, so that the home folder stays empty."""
    caches = tmp_path_factory.getbasetemp() / "bootstrap-caches"
    kept = {name: value for name, value in machine.items() if not name.startswith(("GIT_", "HEADWATER_", "XDG_"))}
    return {
        **kept,
        "HOME": str(home),
        "PIP_CACHE_DIR": str(caches / "pip"),
        "UV_CACHE_DIR": machine.get("HEADWATER_TEST_UV_CACHE", str(caches / "uv")),
        "RUSTUP_HOME": str(caches / "rustup"),  # pip asks rustc for its version
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def start(
    python: Path, copy: Path, script: str, environ: dict[str, str], cwd: Path, *words: str
) -> subprocess.Popen[str]:
    # Without the site module nothing has imported the standard library's bisect, which scripts/bisect.py would shadow.
    return subprocess.Popen(
        [str(python), "-S", str(copy / "scripts" / script), *words, "--help"], cwd=cwd, env=environ, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.releases
@pytest.mark.slow
def test_every_script_helps_from_a_bare_python(bare: Path, copy: Path, environ: dict[str, str], tmp_path: Path) -> None:
    ask = "import sys; sys.exit('bisect' in sys.modules or 'random' in sys.modules)"
    subprocess.run([str(bare), "-S", "-c", ask], check=True, env=environ)
    # All at once, on a copy where nothing is installed: one installs, the others wait for it.
    running = {script: start(bare, copy, script, environ, tmp_path) for script in SCRIPTS}
    said = {script: (*process.communicate(timeout=500), process.returncode) for script, process in running.items()}
    for script, (out, err, status) in said.items():
        assert status == 0, f"{script}: {err}"
        assert "Usage" in out or f"python scripts/{script}" in out
    assert sum(err.count("installing Headwater into") for _out, err, _status in said.values()) == 1
    for script in SCRIPTS:
        with start(bare, copy, script, environ, tmp_path) as again:
            out, err = again.communicate(timeout=100)
        assert (again.returncode, err) == (0, "")
        assert out == said[script][0]
    assert [path.name for path in tmp_path.iterdir()] == []
    assert not list(copy.rglob("uv.lock"))


@pytest.mark.releases
@pytest.mark.slow
def test_an_index_that_is_not_there_is_told_without_credentials_and_tried_again(
    bare: Path, copy: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "workspace"
    shutil.copytree(copy, other, ignore=shutil.ignore_patterns(".headwater"))
    broken = {
        **environ, "PIP_INDEX_URL": f"http://user:{SECRET}@127.0.0.1:1/simple/", "PIP_RETRIES": "0", "NO_PROXY": "*",
        "PIP_FIND_LINKS": "", "PIP_NO_CACHE_DIR": "1",
    }  # fmt: skip
    for _ in range(2):
        with start(bare, other, "headwater.py", broken, tmp_path) as process:
            out, err = process.communicate(timeout=200)
        assert process.returncode == 1
        assert "installing Headwater into" in err and "ended with status" in err
        assert SECRET not in out + err
        assert "Traceback" not in err
    assert not (other / ".headwater" / "venv" / "headwater-stamp").exists()


def test_what_a_script_was_started_with_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For `headwater audit`, which would not see the user's environment from Headwater's own."""
    monkeypatch.setenv(STARTED_BY, "somebody else's")
    with pytest.raises(FileNotFoundError):
        restart(tmp_path / "nowhere")
    assert os.environ[STARTED_BY] == sys.executable


def test_a_workspace_that_was_laid_out_has_nothing_to_install_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.bootstrap._is_installed", lambda: False)
    monkeypatch.setattr("headwater.bootstrap.restart", lambda python: pytest.fail(f"started {python}"))
    enter_workspace(tmp_path, extra="dask")
    assert list(tmp_path.iterdir()) == []


def test_an_environment_that_is_current_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    environment = tmp_path / ".headwater" / "venv"
    environment.mkdir(parents=True)
    (environment / "headwater-stamp").write_text(_stamp(tmp_path), encoding="utf-8")
    monkeypatch.setenv("PATH", os.devnull)
    assert ensure_environment(tmp_path, environment, None) == environment / "bin" / "python"
    assert [path.name for path in environment.iterdir()] == ["headwater-stamp"]


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have environments made of two programs in place of Python and uv, which write down their words in NAME.log beside
    the environment, and fail where NAME.fails lies there."""

    def create(environment: Path, **_options: bool) -> None:
        (environment / "bin").mkdir(parents=True)
        for name in ("python", "uv"):
            program = environment / "bin" / name
            program.write_text(
                f'#!/bin/sh\necho "{name} $*" >> "{environment}.log"\n'
                f'echo "from http://user:{SECRET}@127.0.0.1/"\n[ ! -e "{environment}.fails" ]\n',
                encoding="utf-8",
            )
            program.chmod(0o755)

    monkeypatch.setattr("headwater.bootstrap.venv.create", create)


@pytest.mark.parametrize(
    ("group", "extra", "named", "wanted"),
    [
        (None, None, "Headwater", "--editable {root}"),
        (None, "dask", "Headwater with dask", "--editable {root}[dask]"),
        ("tests", None, "Headwater and its tests tools", "--editable {root} --group {root}/pyproject.toml:tests"),
    ],
)
@pytest.mark.usefixtures("stand_ins")
def test_what_is_installed_is_installed_once_and_told(
    group: str | None, extra: str | None, named: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text("[project]\n", encoding="utf-8")
    environment = tmp_path / ".headwater" / "venv"
    python = environment / "bin" / "python"
    for _ in range(2):
        assert ensure_environment(tmp_path, environment, group, extra) == python
    assert capsys.readouterr().err == f"headwater: installing {named} into {environment} (once) ...\n"
    log = environment.with_suffix(".log")
    assert log.read_text(encoding="utf-8").splitlines() == [
        "python -m pip install --quiet --disable-pip-version-check uv",
        f"uv pip install --quiet --python {python} {wanted.format(root=tmp_path)}",
    ]
    # Other dependencies make it anew.
    (environment / "old").touch()
    project.write_text("[project]\nname = 'x'\n", encoding="utf-8")
    ensure_environment(tmp_path, environment, group, extra)
    assert len(log.read_text(encoding="utf-8").splitlines()) == 4
    assert not (environment / "old").exists()


@pytest.mark.usefixtures("stand_ins")
def test_what_cannot_be_installed_is_told_without_credentials(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    environment = tmp_path / ".headwater" / "venv"
    environment.parent.mkdir()
    environment.with_suffix(".fails").touch()
    with pytest.raises(SystemExit, match=r"python -m pip install \.\.\. ended with status 1; see above"):
        ensure_environment(tmp_path, environment, None)
    err = capsys.readouterr().err
    assert "from http://" in err
    assert SECRET not in err
    assert not (environment / "headwater-stamp").exists()


def test_who_waited_for_another_run_installs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    environment = tmp_path / ".headwater" / "venv"
    environment.mkdir(parents=True)
    monkeypatch.setattr("headwater.bootstrap.venv.create", lambda *_, **__: pytest.fail("installed again"))
    with environment.with_suffix(".lock").open("w") as lock, ThreadPoolExecutor() as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waits = pool.submit(ensure_environment, tmp_path, environment, None)
        with pytest.raises(TimeoutError):
            waits.result(timeout=0.1)
        (environment / "headwater-stamp").write_text(_stamp(tmp_path), encoding="utf-8")
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert waits.result(timeout=20) == environment / "bin" / "python"


def test_an_older_python_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    monkeypatch.setattr(sys, "version_info", (3, 10, 14, "final", 0))
    with pytest.raises(SystemExit, match=r"^headwater: needs Python 3\.11 or later, and this is 3\."):
        ensure_environment(tmp_path, tmp_path / "venv", None)
    assert [path.name for path in tmp_path.iterdir()] == ["pyproject.toml"]


@pytest.mark.parametrize(
    ("installed", "inside", "started"), [(True, False, False), (False, True, False), (False, False, True)]
)
def test_a_script_starts_again_only_where_that_helps(
    installed: bool, inside: bool, started: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    environment = tmp_path / ".headwater" / "venv"
    environment.mkdir(parents=True)
    (environment / "headwater-stamp").write_text(_stamp(tmp_path), encoding="utf-8")
    monkeypatch.setattr("headwater.bootstrap._is_installed", lambda: installed)
    if inside:
        monkeypatch.setattr(sys, "prefix", str(environment))
    again: list[Path] = []
    monkeypatch.setattr("headwater.bootstrap.restart", again.append)
    enter_workspace(tmp_path)
    assert again == ([environment / "bin" / "python"] if started else [])


@pytest.mark.parametrize(("words", "said"), [(["pygmentize", "-V"], "Pygments version"), (["a_tool", "x"], "did x")])
def test_a_tool_runs_by_its_entry_point_or_as_a_module(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a_tool.py").write_text("import sys\nprint('did', *sys.argv[1:])\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "argv", ["develop.py"])
    with pytest.raises(SystemExit) as ended:
        run_tool(words)
    assert not ended.value.code
    assert capsys.readouterr().out.startswith(said)


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["worker", "tcp://127.0.0.1:8786"], "dask"),
        (["scheduler"], "dask"),
        (["matrix", "--executor", "dask", "--scheduler", "a:1"], "dask"),
        (["early-init", "--executor=dask"], "dask"),
        (["matrix", "--executor", "local"], None),
        (["matrix", "--output", "dask"], None),
        (["repro", "worker"], None),
        ([], None),
    ],
)
def test_which_command_lines_need_an_extra(words: list[str], extra: str | None) -> None:
    assert extra_of(words) == extra


@pytest.mark.releases
@pytest.mark.slow
def test_an_extra_is_installed_beside_where_it_is_needed(
    bare: Path, copy: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    with start(bare, copy, "headwater.py", environ, tmp_path, "worker") as process:
        out, err = process.communicate(timeout=500)
    assert process.returncode == 0, err
    assert "Usage: headwater worker" in out
    assert "installing Headwater with dask into" in err
    python = copy / ".headwater" / "venv-dask" / "bin" / "python"
    subprocess.run([str(python), "-c", "import distributed, headwater"], check=True, env=environ)
