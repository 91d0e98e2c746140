# SPDX-License-Identifier: Apache-2.0
"""The pages and the workflows: what they name exists, and actionlint has nothing to say."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from npm import unpacked

ROOT = Path(__file__).resolve().parent.parent
ACTIONLINT = "2.0.6"
SHA512 = "tNx8f48yJNSLXTIygGntu5dSZlIZblDt8sR7pIs7EEmmb2PkEF87d+3UKZV2GUgCuN9Awj7k4ZPrwdAxFWEqgw=="
# Prints what it complains of, as JSON, of files that are given as words.
LINT = """
const fs = require("node:fs");
require(process.argv[1]).createLinter().then((lint) => {
  const found = process.argv.slice(2).flatMap((file) => lint(fs.readFileSync(file, "utf8"), file));
  console.log(JSON.stringify(found.map((one) => `${one.file}:${one.line}: ${one.message}`)));
});
"""


def named_tests() -> list[str]:
    """The tests that docs/reliability.md names."""
    return re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8"))


def rows() -> list[list[str]]:
    """The rows of its tables."""
    lines = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


@pytest.mark.parametrize("named", named_tests())
def test_a_named_test_exists(named: str) -> None:
    file, _, name = named.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert name in functions if name else any(function.startswith("test_") for function in functions)


def test_every_promise_has_a_fault_what_happens_and_a_test() -> None:
    table = [row for row in rows() if row[0] != "promise"]
    assert len(table) >= 30
    for promise, fault, happens, test in table:
        assert fault and happens, promise
        assert re.fullmatch(r"`tests/\S+`", test), promise


def test_the_architecture_names_only_what_there_is() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+\b)[^`]*`", text))
    assert len(named) > 80
    places = (ROOT, ROOT / "src" / "headwater")
    assert [name for name in sorted(named) if not any([*place.glob(f"{name}*")] for place in places)] == []


def site(folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Make the site as `nox -s docs` does."""
    words = re.search(r"strict = \((.*)\)", (ROOT / "noxfile.py").read_text(encoding="utf-8"))
    assert words is not None
    strict = re.findall(r'"(.+?)"', words[1])
    command = [sys.executable, "-m", "sphinx", *strict, str(folder), str(out)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the pages."""
    pytest.importorskip("sphinx", reason="the dependency group `docs` is not installed here")
    return Path(shutil.copytree(ROOT / "docs", tmp_path_factory.mktemp("site") / "docs"))


@pytest.mark.slow
def test_the_site_is_made_and_a_broken_link_is_found(pages: Path, tmp_path: Path) -> None:
    done = site(pages, tmp_path / "site")
    assert done.returncode == 0, done.stderr
    made = {path.stem for path in (tmp_path / "site").glob("*.html")}
    assert made > {path.stem for path in pages.glob("*.md")}
    with (pages / "hunts.md").open("a", encoding="utf-8") as page:
        page.write("\n[nowhere](no-such-page.md) and [no heading](cases.md#no-such-heading)\n")
    (pages / "alone.md").write_text("# Nobody leads here\n", encoding="utf-8")
    done = site(pages, tmp_path / "broken")
    assert done.returncode != 0
    for named in ("no-such-page.md", "no-such-heading", "alone.md"):
        assert named in done.stderr


def complaints(*files: Path) -> list[str]:
    """What actionlint complains of."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here, which runs actionlint")
    return list(
        json.loads(subprocess.run([node, "-e", LINT, *map(str, files)], capture_output=True, check=True).stdout)
    )


@pytest.mark.slow
def test_actionlint_has_nothing_to_say_of_the_workflows(test_cache: Path, tmp_path: Path) -> None:
    linter = unpacked(test_cache, "actionlint", ACTIONLINT, SHA512) / "node.cjs"
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert len(workflows) == 2
    assert complaints(linter, *workflows) == []
    wrong = tmp_path / "wrong.yml"
    text = workflows[0].read_text(encoding="utf-8")
    wrong.write_text(text.replace("runs-on", "runs-at").replace("matrix.python", "matrix.pithon"), encoding="utf-8")
    told = " ".join(complaints(linter, wrong))
    assert "runs-at" in told
    assert "pithon" in told


def test_the_workflows_test_on_every_python_that_is_promised() -> None:
    text = (ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")
    versions = re.search(r"python: \[(.*)\]", text)
    assert versions is not None
    assert versions[1] == '"3.11", "3.12", "3.13"'
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    sessions = set(re.findall(r"nox -s ([\w ]+)", lines.partition("set -e")[2]))
    assert {word for line in sessions for word in line.split()} == {
        word for line in re.findall(r"nox -s ([\w ]+)", text) for word in line.split()
    }
